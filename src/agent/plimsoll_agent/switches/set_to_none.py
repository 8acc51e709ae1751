"""set_to_none: gradients are freed when they are cleared, instead of filled with zeros."""

import weakref

from plimsoll_agent.switches.switch import CHANGED, UNUSED_WEIGHT, Switch


class SetToNone(Switch):
    """Of an optimizer's zero_grad() and a module's.

    PyTorch's default since 2.0: the effect shows in programs that ask for set_to_none=False.
    """

    name = "set_to_none"

    def install(self):
        self._asked = 0
        self._calls = 0
        self._stepped = weakref.WeakKeyDictionary()  # {optimizer: ids of weights that it changed}
        self.program.around_clearing(self._clear)
        self.program.on_step(self._compare)
        self.entry.waits("neither optimizer.zero_grad() nor model.zero_grad() was called")

    def _clear(self, call, owner, weights, set_to_none):
        self._calls += 1
        if not set_to_none:
            self._asked += 1
            place = self.program.place()
            if place is not None:
                self.entry.place("zero_grad", *place)
        call(owner, weights, True)

    def _compare(self, optimizer):
        """A weight without a gradient is passed over; with one of zeros it decays and drifts on."""
        if self.entry.label is not None or self.program.has_closure:
            return
        stepped = self._stepped.setdefault(optimizer, set())
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if tensor.grad is not None:
                    stepped.add(id(tensor))
                elif self._asked and id(tensor) in stepped and (
                        tensor in optimizer.state or group.get("weight_decay")):
                    self.entry.relabel(CHANGED, UNUSED_WEIGHT)
                    return

    def settle(self):
        if self._asked:
            self.entry.applied(f"{self._asked} calls of zero_grad(set_to_none=False) freed the "
                               "gradients instead")
        elif self._calls:
            self.entry.no_effect("gradients are freed already: it is PyTorch's default since 2.0")
