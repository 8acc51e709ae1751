"""transformers' Trainer, TRL's among them: arguments that have a switch for a technique already."""

import functools

from plimsoll_agent import importing

_MODULE = "transformers.trainer"


def when_made(callback):
    """callback(the TrainingArguments) before each Trainer is made of them."""
    importing.when_imported(_MODULE, lambda module, seconds: _cover(module, callback))


def _cover(module, callback):
    kind = getattr(module, "Trainer", None)
    if kind is None:
        return
    original = kind.__init__
    known = []  # of two trainers with the same arguments these are changed once

    @functools.wraps(original)
    def begin(trainer, *args, **kwargs):
        arguments = kwargs.get("args", args[1] if len(args) > 1 else None)
        if arguments is not None and not any(one is arguments for one in known):
            known.append(arguments)
            callback(arguments)
        return original(trainer, *args, **kwargs)

    kind.__init__ = begin
