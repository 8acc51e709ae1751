"""checkpoint, offload, loss, attention, kv."""

import ast

from plimsoll_agent.changes.change import Change
from plimsoll_agent.changes.program import FUNCTIONS, Step, with_import, with_keyword
from plimsoll_agent.changes.source import Unknown, keyword, name_of

IMPORT = "from torch.utils.checkpoint import checkpoint"
TO_HOST = "with torch.autograd.graph.save_on_cpu(pin_memory=True):"


class Blocks:
    """The loop over a model's blocks, in the class that holds them."""

    def __init__(self, program):
        place, self.source = program.the_place("blocks")
        self.attribute = place["attribute"]
        self.count = place.get("count", 0)
        owner = next((node for node in ast.walk(self.source.tree) if isinstance(node, ast.ClassDef)
                      and node.name == place["class"]), None)
        if owner is None:
            raise Unknown(f"the class {place['class']} was not found in its file")
        self.loop, self.target = self._loop(owner)
        self.calls = [node for node in ast.walk(self.loop) if isinstance(node, ast.Call)
                      and isinstance(node.func, ast.Name) and node.func.id == self.target]
        if len(self.calls) != 1:
            raise Unknown(f"the loop over {self.attribute} calls the block {len(self.calls)} times")
        self.call = self.calls[0]

    def _loop(self, owner):
        for node in ast.walk(owner):
            if not isinstance(node, ast.For):
                continue
            over, target = node.iter, node.target
            if isinstance(over, ast.Call) and name_of(over) == "enumerate" and over.args:
                over = over.args[0]
                target = target.elts[1] if isinstance(target, ast.Tuple) else None
            is_blocks = isinstance(over, ast.Attribute) and over.attr == self.attribute
            if is_blocks and isinstance(target, ast.Name):
                return node, target.id
        raise Unknown(f"there is no loop \"for block in self.{self.attribute}\"")

    def index(self):
        """(name of the loop's index, edits that give it one)."""
        if isinstance(self.loop.iter, ast.Call):
            first = self.loop.target.elts[0]
            if not isinstance(first, ast.Name) or len(self.loop.iter.args) > 1:
                raise Unknown("the index of the loop over blocks is not understood")
            return first.id, []
        source = self.source
        return "index", [source.replacing(self.loop.target, f"index, {self.target}"),
                         source.replacing(self.loop.iter,
                                          f"enumerate({source.of(self.loop.iter)})")]

    def recomputed(self, condition):
        """Edits that call the block through checkpoint(), where a condition holds."""
        source, call = self.source, self.call
        given = source.text[source.index(source.end(call.func)):source.index(source.end(call))]
        inside = given.strip()[1:-1].strip().rstrip(",")
        new = f"checkpoint({self.target}, {inside}, use_reentrant=False)"
        if condition:
            new += f" if {condition} else {source.of(call)}"
            if not isinstance(call.parent, (ast.Assign, ast.Return)):
                new = f"({new})"
        return [source.replacing(call, new), *with_import(source, IMPORT, "checkpoint")]


class Checkpoint(Change):
    def __init__(self, program, text):
        super().__init__(program, text)
        if not self.value:
            self.trainer = {"gradient_checkpointing": "True"}

    def _own(self):
        """The model's own method for it; "" where blocks are recomputed one by one."""
        way = self.facts.get("way")
        own = self.program.facts.get("own_checkpointing")
        if self.value or way == "blocks":
            return ""
        return str(way or own or "")

    def _own_call(self):
        own = self._own()
        if own in ("gradient_checkpointing_enable", "activation_checkpointing_enable"):
            kind = own[:-len("_enable")]
            return f'{own}({kind}_kwargs={{"use_reentrant": False}})'
        return f"{own}()"

    def pytorch(self):
        if self._own():
            return [f"{self.model()}.{self._own_call()}"]
        call = "x = checkpoint(block, x, use_reentrant=False)"
        attribute = next((place["attribute"] for place in self.program.of_kind("blocks")), "blocks")
        lines = [IMPORT, ""]
        if not self.value:
            return [*lines, f"for block in self.{attribute}:", f"    {call}"]
        return [*lines, f"for index, block in enumerate(self.{attribute}):",
                f"    if {self._condition('index')}:", f"        {call}", "    else:",
                "        x = block(x)"]

    def _condition(self, index):
        """True for the chosen blocks, as code; "" where all are."""
        kind, _, number = self.value.partition(":")
        if kind == "every":
            return f"{index} % {number} == 0"
        if kind == "fraction":
            from plimsoll_agent.switches.checkpoint import is_chosen

            count = next((place["count"] for place in self.program.of_kind("blocks")), 0)
            if not count:
                raise Unknown("the number of blocks is not known")
            chosen = [one for one in range(count) if is_chosen(self.value, one)]
            return f"{index} in ({', '.join(map(str, chosen))},)"
        return ""

    def edit(self):
        if self._own():
            self._edit_own()
            return
        blocks = Blocks(self.program)
        condition, edits = "", []
        if self.value:
            index, edits = blocks.index()
            condition = self._condition(index)
        blocks.source.apply([*edits, *blocks.recomputed(condition)])

    def _edit_own(self):
        """After the last assignment of the model before the loop, in the same function."""
        step = Step(self.program)
        source, name = step.source, self.model()
        line = (step.outermost_loop() or step.backward).lineno
        made = [node for node in ast.walk(source.tree) if isinstance(node, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == name
                        for target in node.targets) and node.lineno < line
                and source.enclosing(node, FUNCTIONS) in (step.function, None)]
        if not made:
            raise Unknown(f"the place where {name} is made is not known")
        last = max(made, key=lambda node: node.lineno)
        if not source.is_alone(last):
            raise Unknown(f"other statements stand on the line where {name} is made")
        source.apply([source.after(last, [f"{name}.{self._own_call()}"])])


class OffloadSaved(Change):
    """offload=all_saved"""

    def pytorch(self):
        return [TO_HOST, f"    output = {self.model()}(inputs)", "    loss = …  # as it was"]

    def edit(self):
        step = Step(self.program).split()
        step.source.apply(step.source.wrapping(*step.region(), TO_HOST))


class OffloadInputs(Change):
    """offload=layer_inputs"""

    def pytorch(self):
        return [IMPORT, "", "for block in self.blocks:", f"    {TO_HOST}",
                "        x = checkpoint(block, x, use_reentrant=False)"]

    def edit(self):
        blocks = Blocks(self.program)
        source = blocks.source
        source.apply(blocks.recomputed(""))
        call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call)
                    and name_of(node) == "checkpoint" and node.args
                    and source.of(node.args[0]) == blocks.target)
        statement = source.statement_at(call.lineno)
        source.apply(source.wrapping(statement, statement, TO_HOST))


class LossInPieces(Change):
    """loss=chunked"""

    def pieces(self):
        number = self.value.partition(":")[2]
        return int(number or self.facts.get("chunks") or 8)

    def pytorch(self):
        return [IMPORT, "import torch.nn.functional as F", "",
                "def piece(hidden, targets):",
                "    logits = model.head(hidden)",
                '    return F.cross_entropy(logits.float(), targets, reduction="sum")', "",
                "hidden, targets = hidden.flatten(0, 1), targets.flatten()",
                "loss = sum(checkpoint(piece, some, wanted, use_reentrant=False)",
                f"           for some, wanted in zip(hidden.chunk({self.pieces()}),"
                f" targets.chunk({self.pieces()})))",
                "loss = loss / len(targets)  # head(hidden) is not called for all tokens any more"]

    def edit(self):
        raise Unknown("the model's head and its loss have to be put together by hand")


class Flash(Change):
    """attention=flash"""

    def pytorch(self):
        if self.facts.get("way") == "config":
            return ['model = AutoModel….from_pretrained(name, attn_implementation="sdpa")']
        return ["import torch.nn.functional as F", "",
                "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # for softmax(q·kᵀ)·v"]

    def edit(self):
        source, call = self.program.call_named("from_pretrained", "from_config")
        if self.facts.get("way") != "config":
            raise Unknown("the attention of the model is written out: see the lines")
        source.apply([with_keyword(source, call, "attn_implementation", '"sdpa"')])


class Cache(Change):
    """kv=static, kv=window:N"""

    def pytorch(self):
        if self.value == "static":
            return [f'{self.model()}.generate(inputs, cache_implementation="static")']
        tokens = self.value.partition(":")[2]
        return [f"{self.model()}.config.sliding_window = {tokens}",
                f'{self.model()}.generate(inputs, cache_implementation="sliding_window")']

    def edit(self):
        if self.value != "static":
            raise Unknown("a window is a setting of the model's configuration")
        source, call = self.program.call_named("generate")
        if keyword(call, "past_key_values") is not None:
            raise Unknown("generate() is given a cache of its own")
        source.apply([with_keyword(source, call, "cache_implementation", '"static"')])
