"""accumulate, batch, empty_cache, conf."""

import ast

from plimsoll_agent.changes.change import Change, divided
from plimsoll_agent.changes.program import Step, bound_names, with_keyword
from plimsoll_agent.changes.source import Unknown, keyword, name_of


class Accumulate(Change):
    def __init__(self, program, text):
        super().__init__(program, text)
        self.pieces = int(self.value)
        self.trainer = {"gradient_accumulation_steps": self.value,
                        "per_device_train_batch_size": f"…  # a {self.value}th of what it is"}
        self.lightning = {"accumulate_grad_batches": self.value}
        self.accelerate = {"gradient_accumulation_steps": self.value}

    def pytorch(self):
        try:
            step = Step(self.program)
            names = self._divisible(step)
        except Unknown:
            names = ["x", "y"]
        return [f"{self._header(names)}", f"    output = {self.model()}({names[0]})",
                "    loss = …  # as it was, of the piece",
                f"    (loss / {self.value}).backward()",
                f"{self.optimizer()}.step()  # once, after the pieces"]

    def arguments_of(self, source, call, arguments):
        found = dict(arguments)
        if self.program.framework == "Trainer":
            found["per_device_train_batch_size"] = divided(
                source, call, "per_device_train_batch_size", self.pieces)
            before = keyword(call, "gradient_accumulation_steps")
            if before is not None:
                found["gradient_accumulation_steps"] = \
                    f"{source.of(before.value)} * {self.pieces}"
        return found

    def edit_framework(self):
        if self.program.framework == "accelerate":
            return False  # its own loop needs `with accelerator.accumulate(model):` too
        if self.program.framework == "Lightning":
            source, call = self.program.call("loader", "DataLoader")
            text = divided(source, call, "batch_size", self.pieces)
            source.apply([with_keyword(source, call, "batch_size", text)])
        return super().edit_framework()

    # ---- the program's own loop ----------------------------------------------------------------

    def edit(self):
        step = Step(self.program)
        names = self._divisible(step)
        self._clear_first(step)
        step = Step(self.program)
        self._divide_loss(step)
        step = Step(self.program)
        source = step.source
        first = step.model_statement()
        if set(names) & self._used_after(step):
            self._rename(step, first, names)
            step = Step(self.program)
            first = step.model_statement()
            header = self._header(names, "_piece")
        else:
            header = self._header(names)
        source.apply(source.wrapping(first, step.backward, header))
        self.note = ("the loss is taken to be a mean over the batch, and the batch to be divisible; "
                     "after the pieces, the loss is that of the last")

    def _header(self, names, suffix=""):
        pieces = [f"{name}.chunk({self.value})" for name in names]
        if len(names) == 1:
            return f"for {names[0]}{suffix} in {pieces[0]}:"
        return f"for {', '.join(name + suffix for name in names)} in zip({', '.join(pieces)}):"

    def _statements(self, step):
        first = step.model_statement()
        return step.block[step.block.index(first):step.index + 1]

    def _divisible(self, step):
        """Names of the batch's tensors: what the loop gives values to, and calls are given."""
        within = self._statements(step)
        made = set().union(*(bound_names(one) for one in within))
        body = step.loop.body if step.loop is not None else step.block
        given = bound_names(step.loop.target) if isinstance(step.loop, ast.For) else set()
        top = step.source.up_to(within[0], body)
        for statement in body[:body.index(top)] if top is not None else step.block:
            if statement not in within:
                given |= bound_names(statement)
        names = []
        for node in sorted((node for one in within for node in ast.walk(one)
                            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)),
                           key=lambda node: (node.lineno, node.col_offset)):
            if node.id not in given or node.id in made or node.id in names:
                continue
            self._check_use(step, node)
            names.append(node.id)
        if not names:
            raise Unknown("no tensor of the batch is named between the loop and its model")
        return names

    def _check_use(self, step, node):
        parent = node.parent
        if isinstance(parent, ast.keyword):
            parent = parent.parent if parent.arg else None
        is_given = isinstance(parent, ast.Call) and node is not parent.func
        is_shaped = isinstance(parent, ast.Attribute) and parent.value is node
        if not is_given and not is_shaped:
            raise Unknown(f"line {node.lineno} uses {node.id} in a way that cannot be divided "
                          "by its text: divide the batch_size of the loader")
        if isinstance(step.loop, ast.For) and isinstance(step.loop.iter, ast.Call) \
                and name_of(step.loop.iter) in ("range", "enumerate", "count"):
            target = step.loop.target
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            if isinstance(first, ast.Name) and first.id == node.id:
                raise Unknown(f"line {node.lineno} uses the number of the step")

    def _clear_first(self, step):
        """zero_grad() between the model and backward() would clear the pieces before it."""
        source = step.source
        first = self._statements(step)[0]
        between = [one for one in self._statements(step)[1:-1] if isinstance(one, ast.Expr)
                   and isinstance(one.value, ast.Call) and name_of(one.value) == "zero_grad"]
        edits = []
        for one in between:
            if not source.is_alone(one):
                raise Unknown("zero_grad() stands on a line with others")
            edits.append(source.removing(one))
        if between:
            texts = [source.of(one) for one in between]
            source.apply([source.before(first, texts), *edits])

    def _divide_loss(self, step):
        source = step.source
        text = source.of(step.loss)
        is_plain = isinstance(step.loss, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        new = f"{text if is_plain else '(' + text + ')'} / {self.pieces}"
        value = step.backward.value
        if not value.args and value.func.value is step.loss:
            start = source.index(source.start(step.loss))
            if not is_plain and source.text[start - 1:start] == "(":
                new = f"{text} / {self.pieces}" if isinstance(step.loss, ast.BinOp) else new
                if isinstance(step.loss, ast.BinOp) and not isinstance(
                        step.loss.op, (ast.Mult, ast.Div)):
                    new = f"({text}) / {self.pieces}"
            else:
                new = f"({new})"
        source.apply([source.replacing(step.loss, new)])

    def _used_after(self, step):
        root = step.function or step.source.tree
        return {node.id for node in ast.walk(root) if isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load) and node.lineno > step.backward.end_lineno}

    def _rename(self, step, first, names):
        begin, end = step.block.index(first), step.index
        step.source.apply([
            step.source.replacing(node, node.id + "_piece")
            for one in step.block[begin:end + 1] for node in ast.walk(one)
            if isinstance(node, ast.Name) and node.id in names])


class Batch(Change):
    """batch=N, batch=eval:N"""

    def __init__(self, program, text):
        super().__init__(program, text)
        self.is_evaluation = self.value.startswith("eval:")
        self.rows = self.value.rpartition(":")[2]
        name = "per_device_eval_batch_size" if self.is_evaluation else "per_device_train_batch_size"
        self.trainer = {name: self.rows}

    def pytorch(self):
        name = "evaluation_loader" if self.is_evaluation else "loader"
        return [f"{name} = torch.utils.data.DataLoader(dataset, batch_size={self.rows}, …)"]

    def edit(self):
        if self.is_evaluation:
            raise Unknown("which loader is that of the evaluation is not known")
        source, call = self.program.call("loader", "DataLoader")
        if keyword(call, "batch_size") is None and len(call.args) > 1:
            source.apply([source.replacing(call.args[1], self.rows)])
            return
        source.apply([with_keyword(source, call, "batch_size", self.rows)])


class EmptyCache(Change):
    """Before and after a backward pass, and after a step."""

    LINE = "torch.cuda.empty_cache()"
    trainer = {"torch_empty_cache_steps": "1"}

    def pytorch(self):
        return [self.LINE, "loss.backward()", self.LINE, f"{self.optimizer()}.step()", self.LINE]

    def edit(self):
        step = Step(self.program).split()
        source = step.source
        stepping, _ = step.optimizer_step()
        if not source.is_alone(stepping) or not source.is_alone(step.backward):
            raise Unknown("other statements stand on the line of the step or of backward()")
        edits = [source.before(step.backward, [self.LINE]), source.after(stepping, [self.LINE])]
        block, place = source.block_of(step.backward)
        if block[place + 1:place + 2] != [stepping]:
            edits.append(source.after(step.backward, [self.LINE]))
        else:
            edits.append(source.before(stepping, [self.LINE]))
        source.apply(edits)


class Settings(Change):
    """conf=…"""

    def pytorch(self):
        return [f'os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "{self.value}"'
                "  # before the first use of CUDA",
                f"# or, before the program starts: export PYTORCH_CUDA_ALLOC_CONF={self.value}"]

    def edit(self):
        if '"' in self.value or "\\" in self.value:
            raise Unknown("the settings have characters that a text of Python would not keep")
        source = self.program.script()
        first = next((node for node in source.tree.body if not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")), None)
        if first is None or not source.is_alone(first):
            raise Unknown("the first statement of the program is not on lines of its own")
        source.apply([source.before(first, [
            "import os", f'os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "{self.value}"', ""])])
