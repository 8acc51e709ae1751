"""Weights, gradients and states that a technique puts on the host.

In a rehearsal they have no values, and a tensor on the host is its shape alone: each copy is made,
through one buffer, and counted, but 64 GiB of states take nothing of this machine, and its
processor does not compute them. A program that looks at such a tensor, or saves it, sees the buffer.
"""

import os

from plimsoll_agent.switches.stepping import step_owner

# Steps of PyTorch's that look at no value of a weight, a gradient or a state.
_BLIND = {"Adadelta", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "SGD"}


def steps_blindly(optimizer):
    """True if its step may be given tensors without values."""
    own = step_owner(type(optimizer))
    return own.__module__.startswith("torch.optim.") and own.__name__ in _BLIND


def _is_dense(tensor):
    """It fills its memory, in whatever order."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


class HostTensors:
    """
    is_hollow  tensors on the host have no values
    """

    def __init__(self, torch, is_hollow=True):
        self._torch = torch
        self.is_hollow = is_hollow and bool(os.environ.get("PLIMSOLL_REHEARSAL"))
        self._buffers = {}  # {type: one on the host}, as large as the largest that went

    def out(self, tensor):
        """Its copy on the host; a number keeps its value, as a count of steps is computed with."""
        if (not self.is_hollow or tensor.device.type == "cpu" or tensor.dim() == 0
                or not _is_dense(tensor)):
            return tensor.detach().to("cpu", copy=True)
        host = self.hollow(tensor)
        self.copy(host, tensor)
        return host

    def hollow(self, tensor):
        """Its shape."""
        return self._torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype,
                                         device="meta")

    def visible(self, host):
        """One of its shape that a program may read and save."""
        return self._buffer_like(host) if host.device.type == "meta" else host

    def back(self, host, device):
        """Its copy on a device."""
        if host.device.type != "meta":
            return host.to(device)
        tensor = self._torch.empty_strided(host.size(), host.stride(), dtype=host.dtype,
                                           device=device)
        self.copy(tensor, host)
        return tensor

    def copy(self, to, tensor):
        """From one that is there to another, one of them on the host."""
        if to.device.type == "meta":
            self._buffer_like(to).copy_(tensor)
        elif tensor.device.type == "meta":
            to.copy_(self._buffer_like(tensor))
        else:
            to.copy_(tensor)

    def _buffer_like(self, host):
        buffer = self._buffers.get(host.dtype)
        if buffer is None or buffer.numel() < host.numel():
            buffer = self._torch.empty(host.numel(), dtype=host.dtype)
            self._buffers[host.dtype] = buffer
        return buffer.as_strided(host.size(), host.stride())
