"""autocast, weights, inference_mode."""

import ast

from plimsoll_agent.changes.change import Change
from plimsoll_agent.changes.program import FUNCTIONS, Step
from plimsoll_agent.changes.source import Unknown, name_of

DTYPES = {"bf16": "torch.bfloat16", "fp16": "torch.float16"}


class Autocast(Change):
    def __init__(self, program, text):
        super().__init__(program, text)
        self.dtype = DTYPES[self.value]
        self.header = f'with torch.autocast("cuda", dtype={self.dtype}):'
        self.trainer = {self.value: "True"}
        self.lightning = {"precision": f'"{self.value.replace("fp16", "16")}-mixed"'}
        self.accelerate = {"mixed_precision": f'"{self.value}"'}

    def pytorch(self):
        model, optimizer = self.model(), self.optimizer()
        lines = [self.header, f"    output = {model}(inputs)", "    loss = …  # as it was"]
        if self.value == "bf16":
            return [*lines, "loss.backward()"]
        return ['scaler = torch.amp.GradScaler("cuda")  # once, before the loop', *lines,
                "scaler.scale(loss).backward()",
                f"scaler.unscale_({optimizer})  # only before gradients are clipped",
                f"scaler.step({optimizer})", "scaler.update()"]

    def edit(self):
        step = Step(self.program)
        self._refuse_twice(step)
        if self.value == "fp16":
            step = self._scaled(step)
        step = step.split()
        source = step.source
        source.apply(source.wrapping(*step.region(), self.header))
        self._edit_evaluation()

    def _refuse_twice(self, step):
        root = step.function or step.source.tree
        for node in ast.walk(root):
            if isinstance(node, ast.Call) and name_of(node) == "autocast":
                raise Unknown(f"line {node.lineno} has autocast already: its dtype is to be "
                              f"{self.dtype}")

    def _scaled(self, step):
        """loss.backward() and optimizer.step() through a scaler that is made with the optimizer."""
        if step.is_accelerated:
            raise Unknown("accelerate scales the loss by itself: Accelerator(mixed_precision)")
        if step.scaler:
            raise Unknown("the program has a scaler, which is to be enabled")
        stepping, optimizer = step.optimizer_step()
        source = step.source
        maker, call = self.program.call("optimizer")
        made = call.parent
        if maker is not source or not isinstance(made, ast.Assign) or source.enclosing(
                made, FUNCTIONS) not in (step.function, None):
            raise Unknown("the optimizer is made in another function than it steps in: a scaler "
                          "has to be passed there")
        if not source.is_alone(stepping) or not source.is_alone(made):
            raise Unknown("other statements stand on the line of the optimizer's step")
        edits = [source.replacing(step.loss, f"scaler.scale({source.of(step.loss)})")]
        if not isinstance(step.loss, (ast.Name, ast.Attribute)) and "(" == source.text[
                max(0, source.index(source.start(step.loss)) - 1)]:
            edits = self._within_parentheses(source, step.loss)
        edits.append(source.replacing(stepping.value, f"scaler.step({optimizer})"))
        edits.append(source.after(stepping, ["scaler.update()"]))
        edits.append(source.after(made, ['scaler = torch.amp.GradScaler("cuda")']))
        for clip in step.statements(("clip_grad_norm_", "clip_grad_value_")):
            edits.append(source.before(clip, [f"scaler.unscale_({optimizer})"]))
        source.apply(edits)
        return Step(self.program)

    def _within_parentheses(self, source, node):
        """(loss / 4).backward(): what stands in the parentheses goes to the scaler."""
        begin = source.position(source.index(source.start(node)) - 1)
        return [(begin, begin, "scaler.scale")]

    def _edit_evaluation(self):
        """Evaluation's calls of the model, where they are statements alone."""
        for place in self.program.of_kind("eval"):
            try:
                source = self.program.source(place["file"])
                statement = source.statement_at(source.line_of(place["line"]))
                if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.AugAssign)) \
                        and source.enclosing(statement, ast.With) not in self._autocasts(source):
                    source.apply(source.wrapping(statement, statement, self.header))
            except Unknown:
                continue

    def _autocasts(self, source):
        return [node for node in ast.walk(source.tree) if isinstance(node, ast.With)
                and any(name_of(item.context_expr) == "autocast" for item in node.items)]


class Weights(Change):
    lightning = {"precision": '"bf16-true"'}

    def _lines(self, model):
        return [f"{model}.to(torch.bfloat16)",
                f"{model}.register_forward_pre_hook(lambda module, inputs: tuple(",
                "    one.to(torch.bfloat16) if torch.is_tensor(one) and one.is_floating_point()"
                " else one", "    for one in inputs))"]

    def pytorch(self):
        return ["# before the optimizer is made; the hook casts floating inputs",
                *self._lines(self.model())]

    def edit(self):
        source, call = self.program.call("optimizer")
        statement = source.statement_at(call.lineno)
        models = [node.func.value for node in ast.walk(call) if isinstance(node, ast.Call)
                  and name_of(node) == "parameters" and isinstance(node.func, ast.Attribute)]
        if len(models) != 1 or not isinstance(models[0], ast.Name):
            raise Unknown("the optimizer is not made of one model's parameters()")
        if not source.is_alone(statement):
            raise Unknown("other statements stand on the line of the optimizer")
        source.apply([source.before(statement, self._lines(models[0].id))])
        self.note = "floating inputs that have names in the call have to be cast there"


class InferenceMode(Change):
    def pytorch(self):
        return ["with torch.inference_mode():  # in the place of torch.no_grad()",
                f"    output = {self.model()}(inputs)"]

    def edit(self):
        places = [*self.program.of_kind("eval"), *(self.entry.get("places") or [])]
        done = set()
        for place in places:
            source = self.program.source(place["file"])
            node = self._no_grad(source, source.statement_at(source.line_of(place["line"])))
            if node is not None and isinstance(node, ast.Call) and name_of(node) == "no_grad":
                source.apply([source.replacing(node.func, self._name(source, node.func))])
                done.add(place["file"])
        if not done:
            raise Unknown("no torch.no_grad() stands round the evaluation")

    def _name(self, source, function):
        text = source.of(function)
        return text[:-len("no_grad")] + "inference_mode" if "." in text else "torch.inference_mode"

    def _no_grad(self, source, node):
        """The call of no_grad() in a with statement or a decorator round a statement."""
        while node is not None:
            if isinstance(node, ast.With):
                for item in node.items:
                    if name_of(item.context_expr) in ("no_grad", "inference_mode"):
                        return item.context_expr
            for decorator in getattr(node, "decorator_list", ()):
                if name_of(decorator) in ("no_grad", "inference_mode"):
                    return decorator
            node = source.enclosing(node, (ast.With, *FUNCTIONS))
        return None
