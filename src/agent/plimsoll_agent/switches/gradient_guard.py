"""Notices who touches .grad of some tensors between a backward pass and the step."""

import sys


class GradientGuard:
    """While it is up, Tensor.grad is a property that asks first.

    Up for a moment of each step only: a class that changes costs its subclasses their caches, and
    torch.compile would see the property.
    """

    def __init__(self, torch, is_watched, touched, dropped=None):
        """
        is_watched(tensor)      is quick
        touched(tensor, frame)  before the reading or writing; frame is the reader's
        dropped(tensor)         in its place before `tensor.grad = None`, if that is of no harm
        """
        self._tensors = torch.Tensor
        self._is_watched = is_watched
        self._touched = touched
        self._dropped = dropped
        self._is_up = False
        self.own = torch._C.TensorBase.__dict__["grad"]  # PyTorch's

    def up(self):
        if self._is_up or "grad" in self._tensors.__dict__:
            return
        own = self.own

        def read(tensor):
            self._ask(tensor)
            return own.__get__(tensor)

        def write(tensor, value):
            if value is None and self._dropped is not None:
                self._dropped(tensor)
            else:
                self._ask(tensor)
            own.__set__(tensor, value)

        def delete(tensor):
            self._ask(tensor)
            own.__delete__(tensor)

        self._tensors.grad = property(read, write, delete)
        self._is_up = True

    def down(self):
        if self._is_up:
            self._is_up = False
            del self._tensors.grad

    def _ask(self, tensor):
        if self._is_watched(tensor):
            self._touched(tensor, sys._getframe(2))
