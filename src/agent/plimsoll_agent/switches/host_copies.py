"""Tensors kept on the host between forward and backward, and the bytes that they take there."""

import weakref


def rounded(count):
    """Of a pinned block: PyTorch's host allocator takes powers of two."""
    return 1 << max(0, count - 1).bit_length()


class HostCopies:
    """Of one process. Copies go out on a stream of their own, one under way at a time.

    A device's block may be used again only after its copy: the tensor is held until the next copy
    begins, or settle(), and the device's stream then waits for the copy.

    copied     tensors that went
    host_now   {"requested", "rounded"} bytes that are there
    host_most  the most that were
    """

    def __init__(self, torch):
        self._torch = torch
        self._streams = {}
        self._under_way = {}  # device: (tensor, event)
        self.copied = 0
        self.device_bytes = 0
        self.host_now = {"requested": 0, "rounded": 0}
        self.host_most = {"requested": 0, "rounded": 0}

    # ---- out -----------------------------------------------------------------------------------

    def keep(self, tensor):
        """A copy on the host, with its device."""
        torch = self._torch
        is_cuda = tensor.device.type == "cuda"
        host = torch.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout,
                           pin_memory=is_cuda)
        self._count(host, is_cuda)
        if is_cuda:
            self._copy_out(tensor, host)
        else:
            host.copy_(tensor)
        return tensor.device, host

    def _copy_out(self, tensor, host):
        torch = self._torch
        device = tensor.device
        current = torch.cuda.current_stream(device)
        self.settle(device)
        stream = self._streams.get(device)
        if stream is None:
            stream = self._streams[device] = torch.cuda.Stream(device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            host.copy_(tensor, non_blocking=True)
            event = torch.cuda.Event()
            event.record(stream)
        self._under_way[device] = tensor, event

    def settle(self, device=None):
        """What is queued next on the device runs after the copies."""
        for one in [device] if device is not None else list(self._under_way):
            held = self._under_way.pop(one, None)
            if held is not None:
                self._torch.cuda.current_stream(one).wait_event(held[1])

    def _count(self, host, is_pinned):
        size = host.numel() * host.element_size()
        sizes = {"requested": size, "rounded": rounded(size) if is_pinned else size}
        self.copied += 1
        for name, value in sizes.items():
            self.host_now[name] += value
            self.host_most[name] = max(self.host_most[name], self.host_now[name])
        if is_pinned:
            self.device_bytes += size
        weakref.finalize(host, self._gone, sizes)

    def _gone(self, sizes):
        for name, value in sizes.items():
            self.host_now[name] -= value

    # ---- back ----------------------------------------------------------------------------------

    def give(self, kept):
        """The tensor on its device."""
        device, host = kept
        if device.type != "cuda":
            return host
        self.settle(device)
        return host.to(device, non_blocking=True)
