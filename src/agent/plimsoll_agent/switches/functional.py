"""Models as functions of weights that the program gives: what techniques mind of torch.func.

    torch.func.functional_call(model, weights, x)   the modules have other tensors for one call
    torch.func.grad(loss)(weights), vmap, jacrev    hooks of saved tensors are not allowed within
"""


def transforming_test(torch):
    """A function without arguments: does the code that calls it run within a transform?"""
    functorch = getattr(torch._C, "_functorch", None)
    top = getattr(functorch, "peek_interpreter_stack", None)
    return (lambda: top() is not None) if top is not None else bool


def is_lent(torch, module):
    """True if some of its weights are the program's tensors, for one call."""
    return any(not isinstance(one, torch.nn.Parameter) for one in module.parameters())


class Lent:
    """The tensors of a module as a call finds them: within it a later one finds the same."""

    def __init__(self, module):
        self._found = [(owned, dict(owned)) for one in module.modules()
                       for owned in (one._parameters, one._buffers) if owned]

    def __enter__(self):
        self._now = [(owned, dict(owned)) for owned, found in self._found
                     if any(owned.get(name) is not tensor for name, tensor in found.items())]
        for owned, found in self._found:
            owned.update(found)

    def __exit__(self, *_):
        for owned, now in self._now:
            owned.update(now)
