"""set_to_none: gradients are freed when they are cleared, instead of filled with zeros."""

import functools

from plimsoll_agent.switches.switch import Switch


class SetToNone(Switch):
    """In the place of Optimizer.zero_grad and Module.zero_grad.

    PyTorch's default since 2.0: the effect shows in programs that ask for set_to_none=False.
    """

    name = "set_to_none"

    def install(self):
        self._asked = 0
        self._calls = 0
        self._cover(self.torch.optim.Optimizer)
        self._cover(self.torch.nn.Module)
        self.entry.waits("neither optimizer.zero_grad() nor model.zero_grad() was called")

    def _cover(self, kind):
        original = kind.zero_grad

        @functools.wraps(original)
        def zero_grad(owner, set_to_none=True):
            self._calls += 1
            if not set_to_none:
                self._asked += 1
                place = self.program.place()
                if place is not None:
                    self.entry.place("zero_grad", *place)
            return original(owner, set_to_none=True)

        kind.zero_grad = zero_grad

    def settle(self):
        if self._asked:
            self.entry.applied(f"{self._asked} calls of zero_grad(set_to_none=False) freed the "
                               "gradients instead")
        elif self._calls:
            self.entry.no_effect("gradients are freed already: it is PyTorch's default since 2.0")
