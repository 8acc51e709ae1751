"""A test's own memory: from the set-up of its fixtures to the end of its call.

What fixtures of wider scope allocate while it is set up is theirs, as if it was there before the
test: the figures do not depend on which test needed them first.
"""

from __future__ import annotations

from typing import Dict, List, Optional

from plimsoll.pytest_plugin.gauge import Gauge


class Own:
    """Of one test. Devices are those of the process, by index.

    begin  allocated before the test, wider fixtures left out of account that were set up for it
    peak   the highest above `begin`, of the test's first run
    total  the highest with what was there before
    reserved  the highest
    """

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        gauge.settle()
        gauge.take()
        gauge.restart_history()
        self.begin: Dict[int, int] = dict(enumerate(gauge.allocated()))
        self.peak: Dict[int, int] = {}
        self.total: Dict[int, int] = {}
        self.reserved: Dict[int, int] = {}
        self._paused: Optional[List[int]] = None

    def note(self) -> None:
        """An interval of the test's own ends."""
        for device, reading in enumerate(self._gauge.take()):
            peak = reading.peaks["allocated_bytes"]
            own = max(peak - self.begin.setdefault(device, 0), 0)
            self.peak[device] = max(self.peak.get(device, 0), own)
            self.total[device] = max(self.total.get(device, 0), peak)
            self.reserved[device] = max(self.reserved.get(device, 0),
                                        reading.peaks["reserved_bytes"])

    def pause(self) -> None:
        """A wider fixture is about to be set up."""
        self.note()
        self._paused = self._gauge.allocated()

    def resume(self) -> int:
        """It has been set up; bytes that it took."""
        self._gauge.take()
        before, self._paused = self._paused or [], None
        taken = 0
        for device, now in enumerate(self._gauge.allocated()):
            more = now - (before[device] if device < len(before) else 0)
            self.begin[device] = self.begin.get(device, 0) + more
            taken += more
        self._gauge.restart_history()
        return taken

    def device(self) -> int:
        """The one on which the test allocated most."""
        return max(self.peak, key=lambda one: (self.peak[one], -one), default=0)

    def left(self) -> Dict[int, int]:
        """Bytes now beyond what was there before, by device."""
        return {device: now - self.begin.get(device, 0)
                for device, now in enumerate(self._gauge.allocated())
                if now > self.begin.get(device, 0)}
