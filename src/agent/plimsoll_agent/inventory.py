"""The models, parameters and optimizers that are alive.

PyTorch keeps no list of them, the garbage collector does. To go through it takes some 40 ms of a
rehearsal of two seconds, so it is done once; nothing that is found is kept alive by it.
"""

import gc
import weakref

from plimsoll_agent.alone import alone


class Inventory:
    """What is found among things.

    modules     all torch.nn.Module
    optimizers  all torch.optim.Optimizer that have parameters
    parameters  those of the modules and optimizers, each once
    """

    def __init__(self, torch, found):
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


class Finder:
    """Finds what is alive: the first time everything, later what is left of that."""

    def __init__(self, torch):
        self._torch = torch
        self._known = None  # weak references

    def find(self):
        if self._known is None:
            found = alive((self._torch.nn.Module, self._torch.optim.Optimizer))
            self._known = [weakref.ref(thing) for thing in found]
        found = [thing for thing in (known() for known in self._known) if thing is not None]
        return Inventory(self._torch, found)

    def of(self, module):
        """One model."""
        return Inventory(self._torch, list(module.modules()))


def alive(classes):
    """The objects of these classes and those derived from them."""
    wanted, new = set(), list(classes)
    while new:
        kind = new.pop()
        if kind not in wanted:
            wanted.add(kind)
            new += type.__subclasses__(kind)
    with alone():
        return [thing for thing in gc.get_objects() if type(thing) in wanted]
