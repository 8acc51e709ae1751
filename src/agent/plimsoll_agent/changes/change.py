"""Base of what writes one technique down."""

import ast

from plimsoll_agent.changes.program import model_name, with_keyword
from plimsoll_agent.changes.source import Unknown, keyword


class Change:
    """One technique of a stack, in one program.

    pytorch    lines of plain PyTorch, with the program's own names where they are known
    trainer    {argument: its text} of transformers' TrainingArguments
    lightning  of Lightning's Trainer
    accelerate of accelerate's Accelerator

    edit() changes Sources, or raises Unknown.
    """

    trainer = {}
    lightning = {}
    accelerate = {}
    note = None  # that goes with the change

    def __init__(self, program, text):
        self.program = program
        self.text = text
        self.value = text.partition("=")[2]
        self.entry = program.entry(text)
        self.facts = self.entry.get("facts") or {}

    def pytorch(self):
        raise NotImplementedError

    def edit(self):
        raise Unknown("this change is not made in the text of a program")

    def model(self):
        return model_name(self.program)

    def optimizer(self):
        """The name that the optimizer has where it is made; "optimizer" where that is not known."""
        try:
            _, call = self.program.call("optimizer")
            statement = call.parent
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                return statement.targets[0].id
        except Unknown:
            pass
        return "optimizer"

    # ---- frameworks ----------------------------------------------------------------------------

    def framework_names(self):
        """(names of the call that takes arguments, the arguments) of the program's framework."""
        return {
            "Trainer": (("TrainingArguments", "SFTConfig", "Seq2SeqTrainingArguments",
                         "DPOConfig", "GRPOConfig", "RewardConfig"), self.trainer),
            "Lightning": (("Trainer",), self.lightning),
            "accelerate": (("Accelerator",), self.accelerate),
        }.get(self.program.framework)

    def edit_framework(self):
        """The same in the call that configures the framework. False: it has no such argument."""
        names = self.framework_names()
        if names is None or not names[1]:
            return False
        source, call = self.program.call_named(*names[0])
        for name, text in self.arguments_of(source, call, names[1]).items():
            source.apply([with_keyword(source, call, name, text)])
            source, call = self.program.call_named(*names[0])
        return True

    def arguments_of(self, source, call, arguments):
        """Where an argument hangs on one that is there."""
        return arguments


def divided(source, call, name, pieces):
    """The text of an argument that is a number, divided; Unknown where it is not there."""
    there = keyword(call, name)
    if there is None:
        raise Unknown(f"{name} is not among the arguments")
    return divided_text(source, there.value, pieces)


def divided_text(source, node, pieces):
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        if node.value % pieces:
            raise Unknown(f"a batch of {node.value} is not divisible by {pieces}")
        return str(node.value // pieces)
    text = source.of(node)
    is_plain = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return f"{text} // {pieces}" if is_plain else f"({text}) // {pieces}"
