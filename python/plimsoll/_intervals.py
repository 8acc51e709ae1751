"""Exact peaks of intervals that overlap: steps, the phases within them, several watches at once.

PyTorch keeps one peak of each figure. The agent's Peaks takes it at each boundary and hides that from
the program: what the program's own reset_peak_memory_stats() and max_memory_allocated() answer stays
what it was. Here each reading is added to all intervals that are open.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List, Optional, Set

from plimsoll import _memory

PEAKS = ("allocated_bytes", "reserved_bytes")
Peaks = Dict[int, Dict[str, int]]


class Interval:
    """
    peaks   {device: {name in PEAKS: the highest since it began}}
    before  the same of its last round, where it was cut
    """

    def __init__(self) -> None:
        self.peaks: Peaks = {}
        self.before: Peaks = {}

    def add(self, readings: List[Any]) -> None:
        """Of a part of it that ends now."""
        for index, reading in enumerate(readings):
            known = self.peaks.setdefault(index, dict.fromkeys(PEAKS, 0))
            for name in PEAKS:
                known[name] = max(known[name], reading.peaks[name])


class Intervals:
    """Of this process. Without CUDA in use there are no readings."""

    def __init__(self, torch: Any) -> None:
        from plimsoll_agent.journal import Journal
        from plimsoll_agent import peaks

        self._lock = threading.RLock()
        self._open: List[Interval] = []
        journal = Journal()
        self._used: Set[int] = set()
        self._has_context = getattr(torch._C, "_cuda_hasPrimaryContext", lambda index: True)
        self._peaks: Any = peaks.Peaks(torch, journal, self._is_used)
        self._peaks.cover()
        torch.cuda._lazy_call(journal.guard("begin to read peaks")(self._peaks.begin))
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._lock = threading.RLock()
        self._open = []
        self._peaks.forget()

    def _is_used(self, device: int) -> bool:
        """True once a device has a context: without one it has no memory. Of many devices a rank
        uses one, and a look at the others would cost the most."""
        if device not in self._used and self._has_context(device):
            self._used.add(device)
        return device in self._used

    def begin(self) -> Interval:
        """One that begins now."""
        with self._lock:
            self._take()
            made = Interval()
            self._open.append(made)
            return made

    def end(self, interval: Interval) -> List[Any]:
        """Ends one; readings of this moment, by device."""
        with self._lock:
            readings = self._take()
            self._open = [one for one in self._open if one is not interval]
            return readings

    def cut(self, *intervals: Interval) -> List[Any]:
        """A boundary at which some begin anew; readings of it. What they had stays in `before`."""
        with self._lock:
            readings = self._take()
            for interval in intervals:
                interval.before, interval.peaks = interval.peaks, {}
            return readings

    def glance(self, interval: Interval) -> List[Any]:
        """The readings of now, which are added to one that goes on."""
        with self._lock:
            readings: List[Any] = [] if _memory.torch_in_use() is None else self._peaks.glance()
            interval.add(readings)
            return readings

    def _take(self) -> List[Any]:
        """A boundary: what was measured since the last one belongs to all that are open."""
        readings: List[Any] = [] if _memory.torch_in_use() is None else self._peaks.take()
        for interval in self._open:
            interval.add(readings)
        return readings


_made: Dict[int, Optional[Intervals]] = {}  # by the identity of torch: one a process


def of(torch: Any) -> Optional[Intervals]:
    """The one of this process; None: this PyTorch knows no CUDA."""
    if id(torch) not in _made:
        _made[id(torch)] = Intervals(torch) if hasattr(torch._C, "_cuda_memoryStats") else None
    return _made[id(torch)]
