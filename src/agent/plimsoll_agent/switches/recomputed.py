"""Outputs of all pieces first; in the backward pass each piece is run again and goes backward.

Exact for any loss that the program computes of the outputs, pairs of rows included: the gradient
of the whole output is known by then. It costs a second forward pass (Gao et al. 2021, GradCache).
"""

import contextlib

from plimsoll_agent.switches import pieces, randomness
from plimsoll_agent.switches.switch import Refusal


class Recomputation:
    """Of one process."""

    def __init__(self, torch, _program):
        self.torch = torch
        self.is_filling = True  # the engine fills .grad: not for torch.autograd.grad
        self._function = _function(torch)

    def finish(self, batch, state, first, is_compiled):
        """What the program gets: the outputs of all pieces, joined."""
        torch = self.torch
        call = Call(self, batch, is_compiled)
        tensors = pieces.tensors_of(first)
        needs = [tensor.requires_grad for tensor in tensors]
        if not any(needs):
            raise Refusal("no output of the model has a gradient")
        parts = [[tensor.detach() for tensor in tensors]]
        structure = first
        call.states.append(state)
        tensors = first = None
        torch.clear_autocast_cache()
        for number in range(1, len(batch.bounds)):
            call.states.append(randomness.states(torch))
            with contextlib.nullcontext() if is_compiled else torch.no_grad():
                output, _ = batch.run(number)
            parts.append([tensor.detach() for tensor in pieces.tensors_of(output)])
            output = None
            torch.clear_autocast_cache()  # casts without a gradient
        joined = [call.joined(some) for some in zip(*parts)]
        parts = None
        call.needs = needs
        call.outputs = [tensor for tensor, needed in zip(joined, needs) if needed]
        anchor = torch.zeros((), device=joined[0].device, requires_grad=True)
        found = self._function.apply(call, anchor, *batch.inputs)
        graded = iter(found)
        rest = iter([next(graded) if needed else tensor
                     for tensor, needed in zip(joined, needs)])
        return pieces.mapped(structure, lambda _: next(rest))


class Call:
    """One call whose pieces wait for their backward pass."""

    def __init__(self, recomputation, batch, is_compiled):
        self._recomputation = recomputation
        self._torch = recomputation.torch
        self._batch = batch
        self._is_compiled = is_compiled
        self._casts = randomness.casts(self._torch)
        self.states = []  # of random numbers before each piece
        self.needs = self.outputs = None

    def joined(self, tensors):
        for number, tensor in enumerate(tensors):
            if len(tensor.shape) == 0 or tensor.shape[0] != self._batch.size(number):
                raise Refusal(f"an output of {type(self._batch.module).__name__} has the shape "
                              f"{tuple(tensor.shape)}, without the rows of its piece")
        return self._torch.cat(tensors)

    def backward(self, gradients):
        """gradients: of each joined output that needs one, or None. Returns those of inputs."""
        if self.states is None:
            raise RuntimeError("Trying to backward through the graph a second time: under "
                               "--with accumulate its pieces went backward already.")
        torch = self._torch
        now = randomness.states(torch)
        norms = self._norms()
        gathered = []
        try:
            for number, bounds in enumerate(self._batch.bounds):
                randomness.restore(torch, self.states[number])
                some = [None if gradient is None else gradient[bounds[0]:bounds[1]]
                        for gradient in gradients]
                gathered.append(self._piece(number, some))
        finally:
            randomness.restore(torch, now)
            with torch.no_grad():
                for buffer, value in norms:
                    buffer.copy_(value)
        self.states = None
        return self._batch.gradients_of_inputs(torch, gathered)

    def _piece(self, number, gradients):
        torch = self._torch
        with torch.enable_grad():
            with randomness.cast_as(torch, self._casts):
                output, leaves = self._batch.run(number)
                torch.clear_autocast_cache()
            outputs = [tensor for tensor, needed in zip(pieces.tensors_of(output), self.needs)
                       if needed]
            output = None
            pairs = [(tensor, gradient) for tensor, gradient in zip(outputs, gradients)
                     if gradient is not None]
            outputs = None
            roots, seeds = [root for root, _ in pairs], [seed for _, seed in pairs]
            pairs = None
            if self._recomputation.is_filling:
                torch.autograd.backward(roots, seeds)
                return [leaf.grad for leaf in leaves]
            return list(torch.autograd.grad(roots, leaves, seeds, allow_unused=True)) \
                if leaves else []

    def _norms(self):
        """Running means and variances, which a second forward pass would move again."""
        return [(buffer, buffer.clone()) for inner in self._batch.module.modules()
                if inner.training and hasattr(inner, "running_mean")
                for buffer in inner.buffers(recurse=False)]


def _function(torch):
    class Recomputed(torch.autograd.Function):
        """Outputs whose pieces are run again for their gradients."""

        @staticmethod
        def forward(ctx, call, _anchor, *_inputs):
            ctx.call = call
            outputs, call.outputs = call.outputs, None
            return tuple(outputs)

        @staticmethod
        def backward(ctx, *gradients):
            return (None, None, *ctx.call.backward(gradients))

    return Recomputed
