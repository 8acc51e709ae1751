"""Gradients that a call of PyTorch's engine requests of the calls of models that are divided.

    loss.backward()                         fills .grad of all weights
    loss.backward(inputs=weights)           of some
    torch.autograd.grad(loss, weights)      fills nothing, returns them

The graph of a divided call does not reach the weights: its pieces do. So the call's
anchor is requested, too, which has it run, and the gradients that pieces found are put in the answer.
"""

import weakref


def added(one, other):
    """The sum of two gradients, of which either may be None."""
    return other if one is None else one if other is None else one + other


class Asked:
    """Of one process.

    waiting     calls that have not gone backward: each has an anchor and its weights
    is_filling  .grad is to be filled
    is_kept     another backward pass may follow
    """

    def __init__(self, torch):
        self._torch = torch
        self.waiting = weakref.WeakSet()
        self.is_filling = True
        self.is_kept = False
        self._wanted = None  # {id of a weight: its gradient}, if not all are
        self._weights = {}

    def engine(self, call, args, kwargs):
        """In the place of a call of the engine; see Program.around_backward."""
        tensors, gradients, keep, create, inputs, *rest = args
        self.is_filling = kwargs.get("accumulate_grad", False)
        self.is_kept = bool(keep)
        waiting = list(self.waiting)
        own = {id(weight) for one in waiting for weight in one.weights}
        if not inputs or not waiting:
            return call(args, kwargs)
        self._wanted = {id(one): None for one in inputs if id(one) in own}
        try:
            anchors = [one.anchor for one in waiting]
            result = call((tensors, gradients, keep, create, (*inputs, *anchors)),
                          {**kwargs, "allow_unreachable": True})
            if self.is_filling:
                return result
            result = tuple(added(one, self._wanted.get(id(given)))
                           for one, given in zip(result, inputs))
        finally:
            self._wanted = None
        if not any(rest) and any(one is None for one in result):
            raise RuntimeError("One of the differentiated Tensors appears to not have been used in "
                               "the graph. Set allow_unused=True if this is the desired behavior.")
        return result

    def wanted(self, weights):
        """Those of a call's weights that gradients are asked of."""
        return [one for one in weights if self._wanted is None and self.is_filling
                or self._wanted is not None and id(one) in self._wanted]

    def give(self, weight, gradient):
        """The gradient of a weight that is wanted."""
        if gradient is None:
            return
        if not self.is_filling:
            self._wanted[id(weight)] = added(self._wanted[id(weight)], gradient)
        elif weight.grad is None:
            weight.grad = gradient
        elif self._torch.is_grad_enabled():  # create_graph
            weight.grad = weight.grad + gradient
        else:
            weight.grad.add_(gradient)
