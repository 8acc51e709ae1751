"""The models, parameters and optimizers that are alive.

PyTorch keeps no list of them, the garbage collector does. A look costs some 10 ms, so it is taken
few times, and nothing that is found is held any longer than that.
"""

import gc
import itertools


class Inventory:
    """What one look found.

    modules     all torch.nn.Module
    optimizers  all torch.optim.Optimizer that have parameters
    parameters  those of the modules and optimizers, each once
    """

    def __init__(self, torch):
        found = _alive((torch.nn.Module, torch.optim.Optimizer))
        optimizers = [thing for thing in found if isinstance(thing, torch.optim.Optimizer)]
        self.optimizers = [one for one in optimizers if getattr(one, "param_groups", None)]
        self.modules = [thing for thing in found if isinstance(thing, torch.nn.Module)]
        parameters = {}
        for module in self.modules:
            for name, parameter in (module.__dict__.get("_parameters") or {}).items():
                if parameter is not None:
                    parameters.setdefault(id(parameter), (name, parameter))
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameters.setdefault(id(parameter), ("", parameter))
        self.parameters = [parameter for _, parameter in parameters.values()]

    def bytes_by(self, key):
        """{key(parameter): bytes of such parameters}, the largest first."""
        sums = {}
        for parameter in self.parameters:
            name = key(parameter)
            sums[name] = sums.get(name, 0) + size_of(parameter)
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


def size_of(tensor):
    """Bytes of a tensor's elements; 0 of one that has no shape yet."""
    try:
        return tensor.numel() * tensor.element_size()
    except (RuntimeError, ValueError):
        return 0


def _alive(classes):
    """The objects of these classes and those derived from them; at the speed of C."""
    things = gc.get_objects()
    types = list(map(type, things))
    wanted = {kind for kind in set(types) if issubclass(kind, classes)}
    return list(itertools.compress(things, map(wanted.__contains__, types)))
