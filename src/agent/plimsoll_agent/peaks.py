"""Exact peaks between two moments, without changing the peaks that the program sees.

PyTorch keeps one peak of each figure since its last reset. We reset it at each boundary between
phases, so that it becomes the peak of the phase, exactly, whatever happened in it. The program
must not notice: what PyTorch's C functions answer is raised to the highest peak that we have
taken away since the program's own last reset. All of torch.cuda's and torch.accelerator's Python
functions go through those few, by name, at each call.
"""

import threading

FIGURES = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
COUNTS = ("num_alloc_retries", "num_ooms")


class Reading:
    """The figures of one device over one interval.

    peaks    by name in FIGURES
    current  the same at its end
    stats    PyTorch's statistics at its end
    """

    __slots__ = ("peaks", "current", "stats")

    def __init__(self, peaks, current, stats):
        self.peaks = peaks
        self.current = current
        self.stats = stats


_NOTHING = Reading(dict.fromkeys(FIGURES, 0), dict.fromkeys(FIGURES, 0), {})


def _figures_in(statistic, path=()):
    """(path, figures) of all that a statistic has, however deep they lie: at once, by pool, or,
    since PyTorch 2.15, by private pool and pool."""
    if "peak" in statistic:
        yield path, statistic
        return
    for name, inner in statistic.items():
        if type(inner) is dict:
            yield from _figures_in(inner, (*path, name))


class _Device:
    """What was taken away from one device's statistics."""

    def __init__(self):
        self.seen = {}  # {statistic: {path: highest peak since the program's last reset}}
        self.interval = dict.fromkeys(FIGURES, 0)  # the same since the last boundary
        self.counts = dict.fromkeys(COUNTS, 0)  # before the program's resets of them

    def keep(self, stats):
        """Remembers the peaks of PyTorch's statistics, before they are reset."""
        for name, statistic in stats.items():
            if type(statistic) is not dict:
                continue
            seen = self.seen.setdefault(name, {})
            for path, figures in _figures_in(statistic):
                seen[path] = max(seen.get(path, 0), figures["peak"])
        self.keep_interval(stats)

    def keep_interval(self, stats):
        for name in FIGURES:
            self.interval[name] = max(self.interval[name], stats[name]["all"]["peak"])

    def lift(self, stats):
        """Raises the peaks in PyTorch's statistics to what they would be without us."""
        for name, seen in self.seen.items():
            for path, figures in _figures_in(stats.get(name, {})):
                if figures["peak"] < seen.get(path, 0):
                    figures["peak"] = seen[path]


class Peaks:
    """Of all devices. Ready once CUDA is."""

    def __init__(self, torch, journal, is_used=None):
        """
        is_used  is_used(index) is False of a device that was never used: it is not read; None: all are
        """
        self._torch = torch
        self._journal = journal
        self._lock = threading.RLock()
        self._is_used = is_used or (lambda index: True)
        self._devices = []
        self._stats = torch._C._cuda_memoryStats
        self._reset_peaks = torch._C._cuda_resetPeakMemoryStats

    def cover(self):
        """Puts our functions before PyTorch's."""
        core = self._torch._C
        core._cuda_memoryStats = self._lifted(self._stats)
        core._cuda_resetPeakMemoryStats = self._watched(self._reset_peaks, self._before_reset)
        wrappers = {
            "_accelerator_getDeviceStats": self._lifted,
            "_accelerator_resetPeakStats": lambda real: self._watched(real, self._before_reset),
            "_cuda_resetAccumulatedMemoryStats":
                lambda real: self._watched(real, self._before_counts_reset),
            "_accelerator_resetAccumulatedStats":
                lambda real: self._watched(real, self._before_counts_reset),
        }
        for name, wrap in wrappers.items():  # not every version has all of them
            if hasattr(core, name):
                setattr(core, name, wrap(getattr(core, name)))

    def begin(self):
        """CUDA is there: from here on there are figures."""
        self._devices = [_Device() for _ in range(self._torch.cuda.device_count())]

    def forget(self):
        """In a forked child, without figures, where the lock may stay locked."""
        self._lock = threading.RLock()
        self._devices = []

    def _lifted(self, real):
        lift = self._journal.guard("mend the program's statistics")(self._lift)

        def stats(device):
            with self._lock:
                answer = real(device)
                lift(device, answer)
            return answer

        return stats

    def _lift(self, device, answer):
        if device < len(self._devices):
            self._devices[device].lift(answer)

    def _watched(self, real, before):
        before = self._journal.guard("look before a reset of statistics")(before)

        def reset(device):
            with self._lock:
                before(device)
                return real(device)

        return reset

    def _before_reset(self, device):
        if device < len(self._devices):
            self._devices[device].keep_interval(self._stats(device))
            self._devices[device].seen.clear()

    def _before_counts_reset(self, device):
        if device < len(self._devices):
            stats = self._stats(device)
            for name in COUNTS:
                self._devices[device].counts[name] += stats.get(name, 0)

    def take(self):
        """The reading of each device since the last take; the next interval begins."""
        readings = []
        with self._lock:
            for index, device in enumerate(self._devices):
                if not self._is_used(index):
                    readings.append(_NOTHING)
                    continue
                stats = self._stats(index)
                device.keep(stats)
                self._reset_peaks(index)
                readings.append(self._reading(device, stats))
                device.interval = dict.fromkeys(FIGURES, 0)
        return readings

    def glance(self):
        """The reading of each device since the last take; the interval goes on."""
        readings = []
        with self._lock:
            for index, device in enumerate(self._devices):
                if not self._is_used(index):
                    readings.append(_NOTHING)
                    continue
                stats = self._stats(index)
                device.keep_interval(stats)
                readings.append(self._reading(device, stats))
        return readings

    def counts(self, index):
        """Retries and OOMs of a device since the program began."""
        stats = self._stats(index)
        before = self._devices[index].counts
        return {name: before[name] + stats.get(name, 0) for name in COUNTS}

    @staticmethod
    def _reading(device, stats):
        return Reading(
            dict(device.interval), {name: stats[name]["all"]["current"] for name in FIGURES}, stats
        )
