"""One test: what is measured of it from its set-up to its teardown, and what that is worth."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import pytest

from plimsoll.pytest_plugin import leftover, lockfile, report as words
from plimsoll.pytest_plugin.limits import Growth, Limits
from plimsoll.pytest_plugin.measured import Left, Measured
from plimsoll.pytest_plugin.options import Options
from plimsoll.pytest_plugin.own import Own
from plimsoll.pytest_plugin.session import Session
from plimsoll.pytest_plugin.stepping import Stepping


class Trial:
    """Of one test.

    own    its figures
    found  what came of it
    """

    def __init__(self, item: pytest.Item, limits: Limits, options: Options,
                 session: Session) -> None:
        self._item = item
        self._limits = limits
        self._options = options
        self._session = session
        self._is_waiting = False
        self._runs = 1
        self._points: Dict[int, List[Tuple[int, int]]] = {}  # {device: [(run, bytes)]}
        self._stepping: Optional[Stepping] = None
        self._wrong_filter: Optional[str] = None
        self._where: Optional[str] = None  # the line that grew
        self._steps = ""  # that the growth is over, in words
        self.found = Measured(item.nodeid, "skipped",
                              is_marked=item.get_closest_marker("gpu_memory") is not None)
        self.own = Own(session.gauge)
        session.trial = self
        session.gauge.name(session.fixtures)
        session.health.test_begins(item.nodeid, sum(self.own.begin.values()))

    def wait(self) -> None:
        """For the end of the test's own fixtures: the first finalizer is called last."""
        if not self._is_waiting:
            self._is_waiting = True
            self._item.addfinalizer(self._finished)

    # ---- the call ------------------------------------------------------------------------------

    def call_begins(self) -> None:
        self.found.outcome = "passed"
        if self._limits.growth is not None:
            self._point(0)
            self._stepping = Stepping(self._session.gauge, self._limits.warmups)

    def call_ended(self) -> None:
        """The figures, of the test's first run."""
        own = self.own
        own.note()
        self._session.gauge.unsettle()
        self.found.is_in_use = self._session.gauge.torch is not None
        self._figures_of(own.device())
        if self._stepping is not None:
            self._stepping.end()

    def _figures_of(self, device: int) -> None:
        own, found = self.own, self.found
        found.device = device
        found.allocated_peak_bytes = own.peak.get(device, 0)
        found.reserved_peak_bytes = own.reserved.get(device, 0)
        found.before_bytes = own.begin.get(device, 0)

    def runs_wanted(self) -> int:
        """How often the test's body is to run, the first time included."""
        growth = self._limits.growth
        if growth is None or not self.found.is_in_use:
            return 1
        self._settle()
        self._point(1)
        if growth.per == "step" and self._stepping is not None:
            points = self._stepping.points()
            if points:
                self._points = points
                self._steps = f"{max(map(len, points.values())) - 1} optimizer steps"
                self._where = self._stepping.gained_most()
                return 1
        return self._limits.warmups + self._limits.steps

    def run_ended(self) -> None:
        self._runs += 1
        self._settle()
        self._point(self._runs)

    def _settle(self) -> None:
        self._session.gauge.unsettle()
        self._session.gauge.settle()

    def _point(self, run: int) -> None:
        for device, count in enumerate(self._session.gauge.allocated()):
            self._points.setdefault(device, []).append((run, count))

    # ---- the judgement -------------------------------------------------------------------------

    def judge_peak(self) -> List[str]:
        """Why the test fails by its peak; [] where it does not."""
        limits, found = self._limits, self.found
        is_all = limits.counts == "all"
        peaks = self.own.total if is_all else self.own.peak
        device = max(peaks, key=lambda one: (peaks[one], -one), default=0)
        peak = peaks.get(device, 0)
        is_over = limits.limit is not None and peak > limits.limit.bytes
        if is_over:
            self._figures_of(device)
        session = self._session
        if found.is_in_use and (is_over or lockfile.wants_lines(session.config, found)):
            found.peak_lines = session.problems.attempt(
                "find the lines at the peak", session.gauge.peak_lines, found.device,
                self.own.total[found.device], is_all, session.root) or []
        if limits.limit is None or not is_over:
            return []
        return words.over_limit(limits.limit, peak, limits.counts, found)

    def judge_lock(self) -> List[str]:
        """Why the test fails by the lock; [] where it does not."""
        reason = lockfile.judge(self._session.config, self.found)
        return [reason] if reason is not None else []

    def judge_growth(self) -> List[str]:
        """Why the test fails by its growth; [] where it does not."""
        from plimsoll_agent.live.growth import slope

        growth = self._limits.growth
        if growth is None:
            return []
        if not self._steps:
            self._points = {device: [one for one in points if one[0] >= self._limits.warmups]
                            for device, points in self._points.items()}
            self._steps = f"{self._limits.steps} runs of the test"
        slopes = [slope(points) for points in self._points.values() if len(points) > 1]
        if not slopes:
            return []
        self.found.growth_bytes_per_step = round(max(slopes))
        self.found.steps = max(map(len, self._points.values())) - 1
        if max(slopes) <= growth.bytes:
            return []
        held = self._held()
        return words.over_growth(growth, max(slopes), self._steps, self._where,
                                 held.left if held is not None else [])

    def _held(self) -> Optional[leftover.Found]:
        """What holds now what the test has allocated; None: nothing was recorded."""
        session = self._session
        found: Optional[leftover.Found] = session.problems.attempt(
            "find the objects that a test left", leftover.find, session.gauge,
            session.fixtures(), getattr(self._item, "_instance", None), session.root)
        return found

    # ---- the end -------------------------------------------------------------------------------

    def _finished(self) -> None:
        """The test's own fixtures are finished, wider ones are not."""
        self._session.problems.attempt("look at what a test left", self._look_at_left)

    def _look_at_left(self) -> None:
        is_wanted = self._limits.left is not None or self._options.leaks != "off"
        if not is_wanted or self.found.outcome != "passed" or not self.own.left():
            return
        funcargs = getattr(self._item, "funcargs", None)
        if funcargs:  # values of fixtures that are finished: pytest drops them a moment later
            funcargs.clear()
        self._settle()
        net = self.own.left()
        if not net:
            return
        found = self._held()
        if found is None:  # nothing was recorded
            self.found.left_bytes = sum(net.values())
            return
        self.found.left = [one for one in found.left if self._keeps(one)]
        self.found.left_bytes = sum(one.bytes for one in self.found.left)
        self._session.fixtures_keep(found.held)
        self._session.health.allow(sum(one.bytes for one in found.left) - self.found.left_bytes)

    def _keeps(self, left: Left) -> bool:
        if self._options.ignores(left.text):
            return False
        try:
            return self._limits.filter_fn is None or bool(self._limits.filter_fn(left))
        except Exception as error:  # the user's, who is to know
            self._wrong_filter = f"filter_fn failed: {type(error).__name__}: {error}"
            return True

    def judge_left(self) -> List[str]:
        """Why the test fails by what it left; [] where it does not."""
        if self._wrong_filter is not None:
            return [self._wrong_filter]
        bound = self._limits.left
        if bound is None or self.found.left_bytes <= bound.bytes:
            return []
        health = self._session.health
        return [*words.over_left(bound, self.found, self._runs),
                *words.before_lines(health.left_by(), health.healthy)]

    def end(self) -> None:
        self._session.trial = None
        self._session.gauge.unsettle()
