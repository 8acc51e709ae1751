"""From a request to an answer: docs/formats/changes.md."""

from plimsoll_agent.changes.program import Program
from plimsoll_agent.changes.source import Unknown, diff
from plimsoll_agent.changes.table import row_of

TECHNIQUES_MAX = 32


def _call_text(name, arguments):
    return f"{name}({', '.join(f'{key}={text}' for key, text in arguments.items())})"


class Written:
    """What is said of one technique."""

    def __init__(self, change):
        self.text = change.text
        self.pytorch = "\n".join(change.pytorch())
        self.arguments = self._arguments(change)
        self.framework = self._framework(change)
        self.diff = None
        self.note = None

    def _arguments(self, change):
        if change.program.framework != "Trainer" or not change.trainer:
            return None
        return ", ".join(f"{name}={text}" for name, text in change.trainer.items()
                         if "#" not in text) + "".join(
            f"; {name} divided by {change.value}" for name, text in change.trainer.items()
            if "#" in text)

    def _framework(self, change):
        if change.program.framework == "Lightning" and change.lightning:
            return _call_text("Trainer", change.lightning)
        if change.program.framework == "accelerate" and change.accelerate:
            return _call_text("Accelerator", change.accelerate)
        return None

    def as_answer(self):
        return dict(self.__dict__)


def _edit(change):
    """Changes the program's Sources, all or none of them. A reason where it cannot; else None."""
    before = {source: (source.text, source.marks()) for source in change.program.sources()}
    try:
        if not change.edit_framework():
            change.edit()
        return None
    except Unknown as error:
        reason = str(error)
    except Exception as error:  # of ours, over a source of a kind that was not thought of
        reason = f"its text was not understood ({type(error).__name__})"
    for source in change.program.sources():
        text, marks = before.get(source, (source.original, None))
        source.restore(text, marks)
    return reason


def _diffs(program):
    """Of all files, without the last line feed; None: nothing changed."""
    text = "".join(diff(source.name, source.original, source.text)
                   for source in program.sources() if source.text != source.original)
    return text[:-1] if text else None


def _written_alone(request, owner, text, kind):
    """One technique in the program as it is."""
    program = Program(request, owner)
    change = kind(program, text)
    written = Written(change)
    reason = _edit(change)
    if reason is None:
        written.diff = _diffs(program)
        written.note = change.note
    else:
        written.note = f"no diff: {reason}"
    return written


def answer(request, owner):
    """{"techniques": […], "diff": all of them in one, "left_out": […]}"""
    texts = [str(text) for text in request.get("techniques") or []][:TECHNIQUES_MAX]
    kinds = {text: row_of(text) for text in texts}
    written = [_written_alone(request, owner, text, kinds[text][1]).as_answer()
               for text in texts if kinds[text]]
    program = Program(request, owner)
    left_out = []
    for text in sorted((text for text in texts if kinds[text]), key=lambda text: kinds[text][0]):
        reason = _edit(kinds[text][1](program, text))
        if reason is not None:
            left_out.append(text)
    return {"version": 1, "techniques": written, "diff": _diffs(program),
            "left_out": left_out}
