"""Gradients that a step took away: back as soon as the program looks for them.

    optimizer.step()        they are on the host
    optimizer.zero_grad()   dropped
    weight.grad             all are back first, as before a backward pass, which adds to them
"""

import sys

from plimsoll_agent.switches.gradient_guard import GradientGuard


class GradientsAway:
    """Of one process.

    back(gradient, device)  brings one back
    looked(frame)           before that: who looked
    cleared(set_to_none)    in the place of what zero_grad() does to them, where all are of one
                            optimizer: they are dropped, and not filled with zeros
    """

    def __init__(self, torch, program, back, looked=None, cleared=None):
        self._away = {}  # {weight: its gradient on the host}
        self._back = back
        self._looked = looked
        self._cleared = cleared
        self._guard = GradientGuard(torch, lambda tensor: tensor in self._away,
                                    lambda tensor, frame: self.bring_back(frame), self._drop)
        program.around_clearing(self._clear)
        program.around_forward(self._forward)
        program.around_backward(self._backward)

    def take(self, gradients):
        """{weight: its gradient}, after a step."""
        self._away.update(gradients)
        self._watch()

    def bring_back(self, frame=None):
        self._guard.down()
        away, self._away = self._away, {}
        if away and self._looked is not None:
            self._looked(frame or sys._getframe(1))
        for weight, gradient in away.items():
            weight.grad = self._back(gradient, weight.device)

    def _drop(self, weight):
        self._away.pop(weight, None)

    def _watch(self):
        if self._away:
            self._guard.up()

    def _clear(self, call, owner, weights, set_to_none):
        self._guard.down()
        if self._cleared is not None:
            self._cleared(set_to_none)
            self._away.clear()
        elif set_to_none:
            for weight in weights:
                self._drop(weight)
        else:
            self.bring_back()
        call(owner, weights, set_to_none)
        self._watch()

    def _forward(self, call, module, args, kwargs):
        self._guard.down()  # torch.compile would see it
        try:
            return call(module, args, kwargs)
        finally:
            self._watch()

    def _backward(self, call, args, kwargs):
        if kwargs.get("accumulate_grad"):
            self.bring_back()
        return call(args, kwargs)
