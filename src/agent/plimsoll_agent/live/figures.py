"""The figures of PyTorch's allocator, as it counts them: no call reaches a device."""

import gc

from plimsoll_agent.blackbox.devices import figure
from plimsoll_agent.live.page import Device

DEVICES_LOOKED_AT_MAX = 64
NAME_BYTES_MAX = 47


def quietly(function, *args):
    """Calls a function without the garbage collector.

    The statistics are some fifty dicts, which can set it off; it would then run the program's
    finalizers in a thread of ours.
    """
    if not gc.isenabled():
        return function(*args)
    gc.disable()
    try:
        return function(*args)
    finally:
        gc.enable()


class Figures:
    """Of the devices that this process has memory on."""

    def __init__(self, torch, about):
        """
        about  the recorder's Devices: what does not change
        """
        self._about = about
        self._read = torch._C._cuda_memoryStats
        self._devices = {}  # by index: those in use
        self._count = min(torch.cuda.device_count(), DEVICES_LOOKED_AT_MAX)

    def look_for_devices(self):
        """Takes in those that came into use."""
        for index in range(self._count):
            if index not in self._devices:
                stats = quietly(self._read, index)
                if stats["reserved_bytes"]["all"]["peak"] > 0:
                    self._devices[index] = self._begin(index)
                    take(self._devices[index], stats)

    def _begin(self, index):
        device = Device(index)
        name, device.total, _ = self._about.properties(index)
        device.name = name.encode("utf-8", "replace")[:NAME_BYTES_MAX]
        return device

    def look(self):
        """The devices in use, with their figures of this moment, in order."""
        for device in self.devices:
            take(device, quietly(self._read, device.index))
        return self.devices

    @property
    def devices(self):
        """With their figures of the last look."""
        return [self._devices[index] for index in sorted(self._devices)]


def take(device, stats):
    """Puts PyTorch's statistics into a page's device."""
    def count(name, kind="current"):
        return figure(stats, name, kind) or 0  # not counted by this backend

    device.allocated = count("allocated_bytes")
    device.peak_allocated = count("allocated_bytes", "peak")
    device.reserved = count("reserved_bytes")
    device.peak_reserved = count("reserved_bytes", "peak")
    device.active = count("active_bytes")
    device.inactive_split = count("inactive_split_bytes")
    device.blocks = count("active")
    device.retries = stats.get("num_alloc_retries", 0)
    device.ooms = stats.get("num_ooms", 0)
