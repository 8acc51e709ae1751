"""What is allocated at the end of each optimizer step of a test."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from plimsoll.pytest_plugin.gauge import Gauge

POINTS_MIN = 3  # after the warm-up: two steps
POINTS_MAX = 200  # that are kept: their pairs are compared


class Stepping:
    """Of one test, from now until end()."""

    def __init__(self, gauge: Gauge, warmups: int) -> None:
        from plimsoll_agent import importing

        self._gauge = gauge
        self._steps: Any = None
        self._is_over = False
        self._warmups = max(warmups, 1)
        self._looks: List[Any] = []  # [of each device]: after the warm-up, the last
        self._points: Dict[int, List[int]] = {}  # {steps done: bytes of each device}
        importing.when_imported("torch", self._torch_is_there)

    def _torch_is_there(self, torch: Any, _seconds: float) -> None:
        from plimsoll_agent.course import Course
        from plimsoll_agent.journal import Journal
        from plimsoll_agent.steps import Steps

        if self._is_over:
            return
        course = Course()
        course.optimizer_ended = self._stepped
        self._steps = Steps(torch.optim.Optimizer, None, course)
        is_tracing = getattr(getattr(torch, "compiler", None), "is_compiling", None)
        self._steps.watch(Journal(), is_tracing)

    def _stepped(self, _optimizer: Any, steps: int) -> None:
        """Of several optimizers in one step, the last counts."""
        now = self._gauge.allocated()
        first = self._points.get(self._warmups)
        self._points[steps] = now
        if steps == self._warmups or (first is not None and _is_looked_at(steps - self._warmups)
                                      and any(map(int.__gt__, now, first))):
            look = [self._gauge.by_line(device) for device in range(len(now))]
            self._looks = [*self._looks[:1], look]

    def gained_most(self) -> Optional[str]:
        """The line that allocated most of what came after the warm-up; None: unknown."""
        from plimsoll_agent.live.lines import gained_most

        found = [gained_most(*both) for both in zip(*self._looks)] if len(self._looks) > 1 else []
        return next((one for one in found if one is not None), None)

    def end(self) -> None:
        self._is_over = True
        if self._steps is not None:
            self._steps.leave()

    def points(self) -> Dict[int, List[Tuple[int, int]]]:
        """{device: [(step, bytes)]} from the end of the warm-up on; {}: too few steps."""
        steps = [one for one in sorted(self._points) if one >= self._warmups]
        if len(steps) < POINTS_MIN:
            return {}
        steps = steps[::len(steps) // POINTS_MAX + 1]
        devices = max(len(self._points[one]) for one in steps)
        return {device: [(one, self._points[one][device]) for one in steps
                         if device < len(self._points[one])] for device in range(devices)}


def _is_looked_at(step: int) -> bool:
    """The first four after the warm-up, then each twice as far as the one before."""
    return step <= 4 or step & (step - 1) == 0
