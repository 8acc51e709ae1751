"""The places of a program that a change of it by hand would touch: docs/formats/with.md, `program`.

Noted under any technique, while the first steps run: the calls of models, the backward pass, the
steps and the making of optimizers, the making of loaders, and the class that holds repeated blocks.
"""

import functools
import inspect
import os
import sys

from plimsoll_agent import module_tap
from plimsoll_agent.importing import when_imported

STEPS = 20  # calls of models are looked for in this many
PLACES_MAX = 40
FRAMES_MAX = 60
# Part of the path of a file on the stack of a backward pass or a loader: who owns the loop.
FRAMEWORKS = (("/transformers/trainer", "Trainer"), ("/lightning/pytorch/", "Lightning"),
              ("/pytorch_lightning/", "Lightning"), ("/accelerate/accelerator", "accelerate"),
              ("/deepspeed/runtime/", "DeepSpeed"))
OWN_SWITCHES = ("gradient_checkpointing_enable", "enable_gradient_checkpointing",
                "set_grad_checkpointing")  # transformers, diffusers, timm


def framework_of(frame):
    """The name of the framework whose loop runs on a stack; "" where it is the program's own.

    The outermost: the Trainer's own backward pass is one of accelerate's. accelerate owns no loop,
    so it is the answer only where no other is there.
    """
    found = ""
    for _ in range(FRAMES_MAX):
        if frame is None:
            break
        name = frame.f_code.co_filename.replace(os.sep, "/")
        for part, framework in FRAMEWORKS:
            if part in name and (framework != "accelerate" or not found):
                found = framework
        frame = frame.f_back
    return found


def repeated_blocks(root):
    """(owner, attribute, list) of the largest list of modules of one class; None without one."""
    found = None
    for _, owner in root.named_modules():
        for attribute, child in owner.named_children():
            kinds = {type(block) for block in child.children()}
            count = sum(1 for _ in child.children())
            is_list = type(child).__name__ in ("ModuleList", "Sequential")
            if not is_list or len(kinds) != 1 or count < 2:
                continue
            if next(child.parameters(), None) is None or found and count <= len(found[2]):
                continue
            found = owner, attribute, child
    return found


class Anatomy:
    """Of one process.

    places  [{"what", "file", "line", …}]: what more there is hangs on the kind of place
    facts   {name: string or number}
    """

    def __init__(self, program):
        self._program = program
        self._torch = program.torch
        self._guard = program.journal.guard
        self._tap = module_tap.of(program.torch.nn.Module)
        self._steps_left = STEPS
        self._frame = sys._getframe
        self.places = []
        self.facts = {}

    def watch(self):
        optim = sys.modules[self._torch.optim.Optimizer.__module__]
        self._watch_making(optim.Optimizer, "optimizer", self._made_optimizer)
        if "torch.utils.data" in sys.modules:
            self._watch_loaders(sys.modules["torch.utils.data"])
        else:
            when_imported("torch.utils.data", lambda data, _seconds: self._watch_loaders(data))
        note = self._guard("note a backward pass")(self._backward)
        self._program.around_backward(note_first(note))
        self._program.on_step(self._guard("note a step")(self._stepped))
        self._tap.add(self._called)

    def as_result(self):
        return {"places": self.places, "facts": self.facts}

    def _place(self, what, **more):
        place = self._program.place()
        if place is None or len(self.places) >= PLACES_MAX:
            return
        self._add({"what": what, "file": place[0], "line": place[1], **more})

    def _add(self, found):
        if found not in self.places:
            self.places.append(found)

    # ---- making --------------------------------------------------------------------------------

    def _watch_loaders(self, data):
        self._watch_making(data.DataLoader, "loader", self._made_loader)

    def _watch_making(self, kind, what, note):
        original = kind.__init__
        note = self._guard(f"note the place of {what}")(note)

        @functools.wraps(original)
        def __init__(made, *args, **kwargs):
            original(made, *args, **kwargs)
            note(made)

        kind.__init__ = __init__

    def _made_optimizer(self, optimizer):
        self._place("optimizer", **{"class": type(optimizer).__name__})

    def _made_loader(self, loader):
        batch = loader.batch_size
        self._place("loader", batch=batch if isinstance(batch, int) else 0)

    # ---- running -------------------------------------------------------------------------------

    def _backward(self):
        self._place("backward")
        self.facts.setdefault("framework", framework_of(sys._getframe(1)))

    def _stepped(self, optimizer):
        self._place("step", **{"class": type(optimizer).__name__})
        if self._steps_left > 0:
            self._steps_left -= 1
            self._tap.add(self._called)

    def _called(self, module, _bound):
        """A module is looked up for a call: outermost, for within it this watches no more."""
        if self._program.is_in_forward() or next(module.parameters(), None) is None:
            return
        self._tap.remove(self._called)
        self._program.journal.attempt("note the call of a model", self._note_call, module)

    def _note_call(self, module):
        is_trained = self._torch.is_grad_enabled()
        self._place("model" if is_trained else "eval", **{"class": type(module).__name__})
        if is_trained and "model_class" not in self.facts:
            self._note_model(module)

    def _note_model(self, module):
        self.facts["model_class"] = type(module).__name__
        for _, inner in module.named_modules():
            own = next((name for name in OWN_SWITCHES if hasattr(inner, name)), None)
            if own is not None:
                self.facts["own_checkpointing"] = own
                self.facts["own_class"] = type(inner).__name__
                break
        found = repeated_blocks(module)
        if found is None:
            return
        owner, attribute, blocks = found
        code = getattr(inspect.unwrap(type(owner).forward), "__code__", None)
        if code is None or not self._program.places.is_users(code):
            return
        self._add({"what": "blocks", "file": self._program.places.file(code.co_filename),
                   "line": code.co_firstlineno, "class": type(owner).__name__,
                   "attribute": attribute, "count": len(blocks)})


def note_first(note):
    """For around_backward: note() before each pass."""

    def wrapper(call, args, kwargs):
        note()
        return call(args, kwargs)

    return wrapper
