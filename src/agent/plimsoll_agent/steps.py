"""Counts optimizer steps, and says when there have been enough.

A program may have several optimizers and step them in turn; GradScaler may skip one; a trial may
make new ones. An optimizer's own count starts where the program's stood when it first stepped,
if no other was alive then. Steps finished are the highest count of any optimizer.

A program may change its weights itself. Where a limit is wanted, no optimizer has stepped and none
is alive, a step ends where the next forward or backward follows a backward, and at the end.
"""

import sys
import weakref

from plimsoll_agent.inventory import alive

LOOKS_MAX = 3  # in vain for an optimizer, which takes some milliseconds each


def _has_closure(args, kwargs):
    """Whether Optimizer.step(self, closure) was given one."""
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    return callable(closure)


def _unless(is_tracing, hook):
    """A hook that torch.compile can fold to nothing."""
    if is_tracing is None:
        return hook

    def untraced(optimizer, args, kwargs):
        if not is_tracing():
            hook(optimizer, args, kwargs)

    return untraced


class Steps:
    """Of all optimizers of the process.

    course  a Course: gets to know of steps
    """

    def __init__(self, optimizer_class, limit, course):
        self._class = optimizer_class
        self._limit = limit
        self._course = course
        self._counts = weakref.WeakKeyDictionary()
        self.done = 0
        self.classes = {}  # names of the optimizers that stepped, in that order: within backward?
        self.on_first_step = None  # called when the first step is complete
        self.enough = None  # called when the last step that is wanted is complete
        self._is_enough = False
        self._looks_left = LOOKS_MAX
        self._hooks = []

    def watch(self, journal, is_tracing=None):
        """Hooks into all optimizers, those of the future too.

        is_tracing  is True for torch.compile alone, which then leaves the hooks out of its graphs:
                    steps of a compiled optimizer are not counted. None: graphs break at the hooks
        """
        optim = sys.modules[self._class.__module__]
        began = journal.guard("note a step")(self._began)
        ended = journal.guard("note a step's end")(self._ended)
        self._hooks = [optim.register_optimizer_step_pre_hook(_unless(is_tracing, began)),
                       optim.register_optimizer_step_post_hook(_unless(is_tracing, ended))]
        self._course.on_backward_end = self._look_up
        if self._limit is not None:
            self._course.on_again = journal.guard("count a step by hand")(self._again)

    def leave(self):
        """Takes its hooks out again."""
        hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook.remove()

    def _count(self, optimizer):
        if optimizer in self._counts:
            return self._counts[optimizer]
        return 0 if len(self._counts) > 0 else self.done

    def _began(self, optimizer, args, kwargs):
        self.classes.setdefault(type(optimizer).__name__, self._course.is_in_backward())
        count = self._count(optimizer)
        if self._limit is not None and count >= self._limit:
            self._stop()  # the others do not step as often: their turn is over
        self._course.optimizer_began(optimizer, _has_closure(args, kwargs), count < self.done)

    def _ended(self, optimizer, args, kwargs):
        self._course.on_again = None  # it has optimizers: they are counted
        self._counts[optimizer] = self._count(optimizer) + 1
        self.done = max(self.done, self._counts[optimizer])
        self._course.optimizer_ended(optimizer, self.done)
        if self.on_first_step is not None:
            look, self.on_first_step = self.on_first_step, None
            look()
        if self._limit is not None and self.done >= self._limit:
            self._is_enough = not self._is_one_missing()
        self._look_up()

    def _again(self):
        """A forward or backward follows a backward, and no optimizer stepped between them."""
        if not self._is_by_hand():
            return
        self.done += 1
        self._course.stepped_by_hand(self.done)
        if self.done >= self._limit:
            self._stop()

    def _is_by_hand(self):
        if self._looks_left > 0:
            self._looks_left -= 1
            if self._optimizers():
                self._looks_left = LOOKS_MAX
                return False
        return True

    def finish(self, journal):
        """The program ends."""
        if self._limit is not None and self._course.is_after_backward() and self._is_by_hand():
            self.done += 1
            self._course.stepped_by_hand(self.done)
        if self._limit is not None and self.done == 0:
            journal.note("--steps counted no step: no optimizer stepped, and no backward pass ran")

    def _look_up(self):
        """Stops if it is time, but never within a backward: parameters are missing there."""
        if self._is_enough and not self._course.is_in_backward():
            self._stop()

    def _stop(self):
        if self.enough is not None:
            self.enough()

    def _is_one_missing(self):
        """Whether an optimizer is alive that has yet to take its last step.

        PyTorch keeps no list of optimizers, the garbage collector does. Only those count whose
        hooks see steps: wrappers around others need not be.
        """
        return any(self._count(thing) < self._limit and _has_parameters(thing)
                   for thing in self._optimizers())

    def _optimizers(self):
        """Those that are alive and whose hooks see steps.

        A list: a generator that is left half way would be among the objects that it holds.
        """
        return [thing for thing in alive([self._class])
                if hasattr(thing, "param_groups") and getattr(type(thing).step, "hooked", False)]


def _has_parameters(optimizer):
    groups = optimizer.param_groups
    return any(parameter.requires_grad for group in groups for parameter in group["params"])
