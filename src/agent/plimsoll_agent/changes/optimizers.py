"""optimizer=…, offload=optimizer, fused, foreach, set_to_none."""

import ast

from plimsoll_agent.changes.change import Change
from plimsoll_agent.changes.program import (Step, with_import, with_keyword,
                                            without_keyword)
from plimsoll_agent.changes.source import Unknown, keyword, name_of


class OtherOptimizer(Change):
    """optimizer=8bit|adafactor|sgd"""

    KINDS = {  # the class, as it is imported; options of Adam that it takes, too
        "8bit": ("bitsandbytes.optim.AdamW8bit", ("lr", "betas", "eps", "weight_decay")),
        "adafactor": ("torch.optim.Adafactor", ("lr", "weight_decay", "foreach", "maximize")),
        "sgd": ("torch.optim.SGD", ("lr", "weight_decay", "foreach", "maximize", "fused")),
    }

    def __init__(self, program, text):
        super().__init__(program, text)
        self.kind, self.options = self.KINDS[self.value]
        names = {"8bit": '"adamw_bnb_8bit"', "adafactor": '"adafactor"', "sgd": '"sgd"'}
        self.trainer = {"optim": names[self.value]}

    def pytorch(self):
        lr = self.facts.get("lr")
        given = f", lr={lr:g}" if isinstance(lr, (int, float)) else ", lr=…"
        if self.facts.get("weight_decay"):
            given += f", weight_decay={self.facts['weight_decay']:g}"
        lines = [f"{self.optimizer()} = {self.kind}({self.model()}.parameters(){given})"]
        return ["import bitsandbytes", "", *lines] if self.value == "8bit" else lines

    def edit(self):
        source, call = self.program.call("optimizer")
        self._check(call)
        edits = [source.replacing(call.func, self.kind)]
        unknown = [one.arg for one in call.keywords if one.arg not in (*self.options, "params")]
        if None in unknown:
            raise Unknown("the optimizer is made with **options")
        nodes = sorted([*call.args, *call.keywords], key=lambda node: (node.lineno,
                                                                       node.col_offset))
        for place, node in enumerate(nodes):
            if isinstance(node, ast.keyword) and node.arg in unknown and place > 0:
                edits.append((source.end(nodes[place - 1]), source.end(node), ""))
        if keyword(call, "lr") is None and len(call.args) < 2:
            edits.append(self._rate(source, call))
        if self.value == "8bit":
            edits += with_import(source, "import bitsandbytes", "bitsandbytes")
        source.apply(edits)
        self._add_decay()

    def _check(self, call):
        if len(call.args) > 2:
            raise Unknown("the optimizer is made with more than two arguments without names")
        if not call.args and keyword(call, "params") is None:
            raise Unknown("the optimizer is made without parameters that are understood")

    def _rate(self, source, call):
        """Other optimizers have other learning rates where none is said."""
        rate = self.facts.get("lr")
        if not isinstance(rate, (int, float)):
            raise Unknown("the learning rate is not known")
        first = call.args[0] if call.args else keyword(call, "params")
        at = source.end(first)
        return at, at, f", lr={rate:g}"

    def _add_decay(self):
        """Adam's own default goes on to hold."""
        decay = self.facts.get("weight_decay")
        source, call = self.program.call("optimizer", self.kind.rpartition(".")[2])
        if isinstance(decay, (int, float)) and keyword(call, "weight_decay") is None:
            source.apply([with_keyword(source, call, "weight_decay", f"{decay:g}")])


class InBackward(Change):
    """optimizer=in_backward"""

    def pytorch(self):
        name = self.optimizer()
        return self._lines(name, self._made(), f"{self.model()}.parameters()", "")

    def _made(self):
        try:
            source, call = self.program.call("optimizer")
            self._check(call)
            given = source.text[source.index(source.end(call.args[0])):
                                source.index(source.end(call))]
            return f"{source.of(call.func)}([parameter]{given}"
        except Unknown:
            return "torch.optim.AdamW([parameter], lr=…)"

    def _check(self, call):
        if not call.args or not (isinstance(call.args[0], ast.Call)
                                 and name_of(call.args[0]) == "parameters"):
            raise Unknown("the optimizer is not made of a model's parameters()")

    def _lines(self, name, made, parameters, indent):
        plural = name + "s" if not name.endswith("s") else name
        return [f"{plural} = {{parameter: {made}",
                f"{' ' * (len(plural) + 4)}for parameter in {parameters}"
                " if parameter.requires_grad}", "",
                "def step_in_backward(parameter):",
                f"{indent or '    '}{plural}[parameter].step()",
                f"{indent or '    '}{plural}[parameter].zero_grad()", "",
                f"for parameter in {plural}:",
                f"{indent or '    '}parameter.register_post_accumulate_grad_hook("
                "step_in_backward)"]

    def edit(self):
        step = Step(self.program)
        source, call = self.program.call("optimizer")
        self._check(call)
        made = call.parent
        if not isinstance(made, ast.Assign) or len(made.targets) != 1 or \
                not isinstance(made.targets[0], ast.Name) or not source.is_alone(made):
            raise Unknown("the optimizer is not given one name where it is made")
        if source is not step.source:
            raise Unknown("the optimizer is made in another file than it steps in")
        name = made.targets[0].id
        gone = self._statements(source, made, name)
        lines = self._lines(name, self._made(), source.of(call.args[0]), source.unit())
        edits = [source.before(made, lines), source.removing(made)]
        for statement in gone:
            block, _ = source.block_of(statement)
            if all(one in gone for one in block):
                raise Unknown("nothing would be left of the block of the optimizer's step")
            edits.append(source.removing(statement))
        source.apply(edits)

    def _statements(self, source, made, name):
        """Its steps and clearings, which go; any other use of it stands in the way."""
        gone = []
        for node in ast.walk(source.tree):
            if not (isinstance(node, ast.Name) and node.id == name) or node is made.targets[0]:
                continue
            call = getattr(node.parent, "parent", None)
            statement = getattr(call, "parent", None)
            is_its = isinstance(node.parent, ast.Attribute) and isinstance(call, ast.Call) \
                and node.parent.attr in ("step", "zero_grad") and isinstance(statement, ast.Expr)
            if not is_its or not source.is_alone(statement):
                raise Unknown(f"line {node.lineno} uses {name} for something else")
            gone.append(statement)
        return gone


class OffloadOptimizer(Change):
    """offload=optimizer"""

    def pytorch(self):
        model, optimizer = self.model(), self.optimizer()
        return [f"masters = [p.detach().to(\"cpu\", copy=True).requires_grad_()"
                f" for p in {model}.parameters()]",
                f"{optimizer} = torch.optim.AdamW(masters, lr=…)  # as it was, on the host", "",
                "# in the place of the step:",
                f"for master, p in zip(masters, {model}.parameters()):",
                "    master.grad, p.grad = p.grad.to(\"cpu\"), None",
                f"{optimizer}.step()", "with torch.no_grad():",
                f"    for master, p in zip(masters, {model}.parameters()):",
                "        p.copy_(master)"]

    def edit(self):
        raise Unknown("clipping and schedules decide how the step on the host is written")


class Option(Change):
    """fused, foreach=off: an option of the optimizer."""

    name, given, other = "fused", "True", "foreach"

    def pytorch(self):
        return [f"{self.optimizer()} = torch.optim.AdamW({self.model()}.parameters(), …, "
                f"{self.name}={self.given})"]

    def edit(self):
        source, call = self.program.call("optimizer")
        if any(one.arg is None for one in call.keywords):
            raise Unknown("the optimizer is made with **options")
        there = keyword(call, self.other)
        if there is not None and isinstance(there.value, ast.Constant) and there.value.value:
            source.apply(without_keyword(source, call, self.other))
            source, call = self.program.call("optimizer")
        source.apply([with_keyword(source, call, self.name, self.given)])


class Fused(Option):
    trainer = {"optim": '"adamw_torch_fused"'}


class Foreach(Option):
    name, given, other = "foreach", "False", "fused"


class SetToNone(Change):
    def pytorch(self):
        return [f"{self.optimizer()}.zero_grad(set_to_none=True)  # PyTorch's default since 2.0"]

    def edit(self):
        places = self.program.of_kind("zero_grad", self.entry.get("places") or [])
        if not places:
            raise Unknown("the place of zero_grad() is not known")
        for place in places:
            source = self.program.source(place["file"])
            for call in source.calls_at(source.line_of(place["line"]), "zero_grad"):
                if call.args and isinstance(call.args[0], ast.Constant):
                    source.apply([source.replacing(call.args[0], "True")])
                elif keyword(call, "set_to_none") is not None:
                    source.apply([with_keyword(source, call, "set_to_none", "True")])
