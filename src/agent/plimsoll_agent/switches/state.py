"""What a call of a module may change beside its result: random numbers, buffers, attributes."""

from plimsoll_agent.switches import randomness
from plimsoll_agent.switches.leaves import tensors_within

COPIED_BYTES = 1 << 20  # of a buffer: larger ones are tables
_PARTS = ("_parameters", "_buffers", "_modules")


def copies(buffers):
    """Of [(module, name)]: for put_back()."""
    return [(module, name, module._buffers[name], module._buffers[name].clone())
            for module, name in buffers]


def put_back(torch, copied):
    with torch.no_grad():
        for module, name, buffer, copy in copied:
            module._buffers[name] = buffer
            buffer.copy_(copy)


class State:
    """Of a module, as it is now."""

    def __init__(self, torch, module):
        self._torch = torch
        self.random = randomness.states(torch)
        self._attributes = [(one, dict(one.__dict__), _tensors_of(one))
                            for one in module.modules()]
        small = [(one, name) for one in module.modules() for name, buffer in one._buffers.items()
                 if buffer is not None and not buffer.is_inference()
                 and buffer.numel() * buffer.element_size() <= COPIED_BYTES]
        self._versions = {(one, name): one._buffers[name]._version for one, name in small}
        self._copies = copies(small)

    def put_back(self):
        randomness.restore(self._torch, self.random)
        put_back(self._torch, self.changed())
        for module, attributes, _ in self._attributes:
            if any(module.__dict__.get(name) is not value for name, value in attributes.items()) \
                    or len(module.__dict__) != len(attributes):
                module.__dict__.clear()
                module.__dict__.update(attributes)

    def changed(self):
        """Copies of the buffers that are not as they were, which this state has."""
        return [found for found in self._copies
                if found[0]._buffers.get(found[1]) is not found[2]
                or found[2]._version != self._versions[found[:2]]]

    def kept(self):
        """{(module, name): tensors} of attributes that hold others than they did."""
        found = {}
        for module, _, before in self._attributes:
            for name, now in _tensors_of(module).items():
                was = before.get(name, [])
                if len(now) != len(was) or any(one is not other for one, other in zip(now, was)):
                    found[module, name] = now
        return found


def _tensors_of(module):
    """{attribute: the tensors in it}."""
    found = {name: tensors_within(value) for name, value in module.__dict__.items()
             if name not in _PARTS}
    return {name: tensors for name, tensors in found.items() if tensors}
