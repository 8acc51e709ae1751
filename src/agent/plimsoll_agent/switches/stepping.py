"""The ground of techniques that change how an optimizer computes its step."""

import weakref

from plimsoll_agent.switches.report import APPLIED
from plimsoll_agent.switches.switch import Switch


def devices_of(groups):
    """The types of device that parameters lie on: {"cuda"}."""
    return {tensor.device.type for group in groups for tensor in group["params"]}


def name_of(optimizer):
    """Of its class; of the one that works, where that is in the place of another."""
    return getattr(type(optimizer), "plimsoll_name", type(optimizer).__name__)


def step_owner(kind):
    """The class whose step() a class of optimizers has: its own or one that it inherits."""
    return next(base for base in kind.__mro__ if "step" in base.__dict__)


class Stepping(Switch):
    """Options of optimizers, changed when they are made and again before each step.

    Groups may come later, and load_state_dict() puts the options of a checkpoint back; a gradient
    scaler looks at an optimizer before its first step.
    """

    def install(self):
        self.before = weakref.WeakKeyDictionary()  # {optimizer: options of its groups as made}
        self.program.around_optimizer(self._make)
        self.program.on_step(self._step)
        self.entry.waits("no optimizer of PyTorch was made")

    # ---- of a technique ------------------------------------------------------------------------

    def check(self, optimizer):
        """Raises Refusal where the optimizer cannot."""

    def wanted(self, group):
        """Options for a group."""
        return {}

    def changed(self, optimizer):
        """Its options have been changed."""

    def put_back(self, optimizer):
        """They have been put back."""

    def verdict(self, optimizer):
        """Why the change had no effect; None where it had one."""

    def evidence(self, optimizer):
        return ""

    # ---- of all --------------------------------------------------------------------------------

    def _make(self, call, optimizer, params, defaults):
        call(optimizer, params, defaults)
        place = self.program.place()
        if place is not None:
            self.entry.place("optimizer", *place)
        self._attempt(optimizer)

    def _step(self, optimizer):
        if optimizer in self.before and self._attempt(optimizer):
            reason = self.verdict(optimizer)
            if reason is None:
                self.entry.applied(self.evidence(optimizer))
            elif self.entry.state != APPLIED:
                self.entry.no_effect(reason)

    def _attempt(self, optimizer):
        return self.program.guarded(self.entry, self._change, self._restore)(optimizer)

    def _change(self, optimizer):
        self.check(optimizer)
        groups = optimizer.param_groups
        self.before.setdefault(optimizer, [
            {key: group[key] for key in self.wanted(group) if key in group} for group in groups])
        for group in groups:
            group.update(self.wanted(group))
        self.changed(optimizer)
        self.entry.waits("no optimizer has stepped")
        return True

    def _restore(self, optimizer):
        """The options are the program's again."""
        for group, was in zip(optimizer.param_groups, self.before.pop(optimizer, ())):
            group.update(was)
        self.put_back(optimizer)
        return False
