"""The devices that this process uses: their figures, as PyTorch's allocator and NVML report them."""

from plimsoll_agent.blackbox.nvml import Nvml, driver_release

_FIGURES = (("allocated_bytes", "allocated_bytes", "current"),
            ("reserved_bytes", "reserved_bytes", "current"),
            ("active_bytes", "active_bytes", "current"),
            ("inactive_split_bytes", "inactive_split_bytes", "current"),
            ("peak_allocated_bytes", "allocated_bytes", "peak"),
            ("peak_reserved_bytes", "reserved_bytes", "peak"))


def figure(stats, name, kind):
    """None where this backend does not count it."""
    return stats.get(name, {}).get("all", {}).get(kind)


class Devices:
    """All that PyTorch sees; those count that the process has had memory of."""

    def __init__(self, torch, journal):
        self._torch = torch
        self._journal = journal
        self._count = 0
        self._known = {}  # {index: (name, bytes, UUID)}
        self.nvml = Nvml()

    def begin(self):
        """CUDA is there."""
        self._count = self._torch.cuda.device_count()

    def stats(self):
        """(index, PyTorch's raw statistics) of each device that was used: 22 µs each."""
        for index in range(self._count):
            stats = self._journal.attempt("read PyTorch's statistics",
                                          self._torch._C._cuda_memoryStats, index) or {}
            if figure(stats, "reserved_bytes", "peak") or stats.get("num_ooms"):
                yield index, stats

    def allocations(self):
        """Requests that were granted on all of them so far."""
        return sum(figure(stats, "allocation", "allocated") or 0 for _, stats in self.stats())

    def events(self):
        """A bound of the events of memory so far, if nothing has reset PyTorch's counts."""
        total = 0
        for _, stats in self.stats():
            total += figure(stats, "allocation", "allocated") or 0
            total += 2 * (figure(stats, "allocation", "freed") or 0)  # requested, and completed
            total += figure(stats, "segment", "allocated") or 0
            total += figure(stats, "segment", "freed") or 0
        return total

    def driver_release(self):
        """Without NVML, which takes its time to open, where the kernel says it."""
        return driver_release() or self.nvml.driver_if_open()

    def forget(self):
        """In a forked child."""
        self.nvml.forget()

    def figures(self):
        """Of those that were used."""
        return [self._figures(index, stats) for index, stats in self.stats()]

    def _figures(self, index, stats):
        name, total, _ = self.properties(index)
        device = {"device": index, "name": name, "total_bytes": total}
        for member, statistic, kind in _FIGURES:
            device[member] = figure(stats, statistic, kind)
        device["retries"] = stats.get("num_alloc_retries", 0)
        device["ooms"] = stats.get("num_ooms", 0)
        return device

    def properties(self, index):
        """(name, bytes, UUID or None), which do not change."""
        if index not in self._known:
            properties = self._torch.cuda.get_device_properties(index)
            uuid = getattr(properties, "uuid", None)
            self._known[index] = (properties.name, properties.total_memory,
                                  f"GPU-{uuid}" if uuid is not None else None)
        return self._known[index]

    def full_figures(self):
        """The same, with what the driver says of the device and its processes."""
        devices = self.figures()
        for device in devices:
            device.update(free_bytes=None, processes=None)
            self._journal.attempt("ask the driver for a device's processes", self._ask, device)
        return devices

    def _ask(self, device):
        uuid = self.properties(device["device"])[2]
        handle = self.nvml.device(uuid) if uuid is not None else None
        if handle is not None:
            device["free_bytes"] = self.nvml.free_bytes(handle)
            device["processes"] = self.nvml.processes(handle)
        if device["free_bytes"] is None:
            device["free_bytes"] = self._torch.cuda.mem_get_info(device["device"])[0]
