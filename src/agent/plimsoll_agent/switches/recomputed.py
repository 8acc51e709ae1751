"""Outputs of all pieces first; in the backward pass each piece is run again and goes backward.

Exact for any loss that the program computes of the outputs, pairs of rows included: the gradient
of the whole output is known by then. It costs a second forward pass (Gao et al. 2021, GradCache).
"""

import contextlib

from plimsoll_agent.switches import pieces, randomness, state
from plimsoll_agent.switches.asked import added
from plimsoll_agent.switches.switch import Refusal


class Recomputation:
    """Of one process.

    asked  the Asked
    """

    def __init__(self, torch, asked):
        self.torch = torch
        self.asked = asked
        self._function = _function(torch)

    def finish(self, batch, before, first, is_compiled):
        """What the program gets: the outputs of all pieces, joined.

        before  what the first piece found: see Call.states
        """
        torch = self.torch
        call = Call(self, batch)
        tensors = pieces.tensors_of(first)
        needs = [tensor.requires_grad for tensor in tensors]
        if not any(needs):
            raise Refusal("no output of the model has a gradient")
        parts = [[tensor.detach() for tensor in tensors]]
        structure = first
        call.states.append(before)
        tensors = first = None
        torch.clear_autocast_cache()
        for number in range(1, len(batch.bounds)):
            call.note_state()
            with contextlib.nullcontext() if is_compiled else torch.no_grad():
                output, _ = batch.run(number)
            parts.append([tensor.detach() for tensor in pieces.tensors_of(output)])
            output = None
            torch.clear_autocast_cache()  # casts without a gradient
        joined = [call.joined(some) for some in zip(*parts)]
        parts = None
        call.needs = needs
        call.outputs = [tensor for tensor, needed in zip(joined, needs) if needed]
        call.anchor = torch.zeros((), device=joined[0].device, requires_grad=True)
        found = self._function.apply(call, call.anchor, *batch.inputs)
        self.asked.waiting.add(call)
        graded = iter(found)
        rest = iter([next(graded) if needed else tensor
                     for tensor, needed in zip(joined, needs)])
        return pieces.mapped(structure, lambda _: next(rest))


class Call:
    """One call whose pieces wait for their backward pass.

    states   before each piece: (random numbers, copies of buffers that pieces change)
    anchor   the leaf that its graph begins at, beside inputs
    weights  of the module
    """

    def __init__(self, recomputation, batch):
        self._asked = recomputation.asked
        self._torch = recomputation.torch
        self._batch = batch
        self._casts = randomness.casts(self._torch)
        self.states = []
        self.weights = [one for one in batch.module.parameters() if one.requires_grad]
        self.needs = self.outputs = self.anchor = None

    def note_state(self):
        self.states.append((randomness.states(self._torch), state.copies(self._batch.changing)))

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
        is_differentiable = self._torch.is_grad_enabled()  # create_graph
        one = self._differentiable_piece if is_differentiable else self._piece
        with self._as_found():
            gathered = [one(number, self._seeds(number, gradients))
                        for number in range(len(self._batch.bounds))]
        if not self._asked.is_kept:
            self.states = None
            self._asked.waiting.discard(self)
        if is_differentiable:
            return [_sum(parts) for parts in zip(*gathered)]
        return self._batch.gradients_of_inputs(self._torch, gathered)

    @contextlib.contextmanager
    def _as_found(self):
        """Random numbers and buffers are in the end as they were."""
        torch = self._torch
        now = randomness.states(torch)
        buffers = state.copies(self._batch.changing)
        try:
            yield
        finally:
            randomness.restore(torch, now)
            state.put_back(torch, buffers)

    def _seeds(self, number, gradients):
        start, end = self._batch.bounds[number]
        return [None if gradient is None else gradient[start:end] for gradient in gradients]

    def _run(self, number, is_connected=False):
        """A piece as it was: (its outputs that need a gradient, leaves for its inputs)."""
        random, buffers = self.states[number]
        randomness.restore(self._torch, random)
        state.put_back(self._torch, buffers)
        with randomness.cast_as(self._torch, self._casts):
            output, leaves = self._batch.run(number, is_connected=is_connected)
            self._torch.clear_autocast_cache()
        return [tensor for tensor, needed in zip(pieces.tensors_of(output), self.needs)
                if needed], leaves

    def _piece(self, number, seeds):
        """Its gradients of inputs; those of weights are given."""
        torch, asked = self._torch, self._asked
        with torch.enable_grad():
            outputs, leaves = self._run(number)
            pairs = [(tensor, seed) for tensor, seed in zip(outputs, seeds) if seed is not None]
            outputs = None
            roots, seeds = [root for root, _ in pairs], [seed for _, seed in pairs]
            pairs = None
            weights = asked.wanted(self.weights)
            if asked.is_filling and len(weights) == len(self.weights):
                torch.autograd.backward(roots, seeds)
                return [leaf.grad for leaf in leaves]
            if not leaves and not weights:
                return []
            found = torch.autograd.grad(roots, [*leaves, *weights], seeds, allow_unused=True)
        for weight, gradient in zip(weights, found[len(leaves):]):
            asked.give(weight, gradient)
        return list(found[:len(leaves)])

    def _differentiable_piece(self, number, seeds):
        """The same with a graph, for gradients of gradients, in full size."""
        outputs, _ = self._run(number, is_connected=True)
        pairs = [(tensor, seed) for tensor, seed in zip(outputs, seeds) if seed is not None]
        weights = self._asked.wanted(self.weights)
        inputs = [*self._batch.inputs, *weights]
        found = self._torch.autograd.grad([root for root, _ in pairs], inputs,
                                          [seed for _, seed in pairs], create_graph=True,
                                          allow_unused=True) if inputs else []
        for weight, gradient in zip(weights, found[len(self._batch.inputs):]):
            self._asked.give(weight, gradient)
        return list(found[:len(self._batch.inputs)])


def _sum(gradients):
    total = None
    for one in gradients:
        total = added(total, one)
    return total


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
