"""Memory of a program's steps and phases, while it runs: plimsoll.watch()."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, List, Optional, Type, Union

from plimsoll import _agent, _intervals, _saying

Figures = Dict[str, Union[int, float]]
_CURRENT = ("allocated_bytes", "reserved_bytes", "inactive_split_bytes")
_COUNTS = ("num_alloc_retries", "num_ooms")


class Phase:
    """A part of a step: as a context, or by begin_phase() and end_phase() of its watch.

    name  may be changed until it has ended
    """

    def __init__(self, watch: Watch, name: str) -> None:
        self.name = name
        self.interval: Optional[_intervals.Interval] = None
        self._watch = watch

    def __enter__(self) -> Phase:
        self._watch._enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._watch._leave(self)


class Watch:
    """Of this process. Never raises, and without CUDA in use its figures are empty.

    warnings  growth of memory, one sentence for each device
    """

    def __init__(self, arm: bool = True, growth: bool = True, quiet: bool = False) -> None:
        self.warnings: List[str] = []
        self._wants_growth = growth
        self._is_quiet = quiet
        self._is_closed = False
        self._steps = 0
        self._failure = ""
        self._torch: Any = None
        self._intervals: Optional[_intervals.Intervals] = None
        self._step: Optional[_intervals.Interval] = None
        self._phases: List[Phase] = []  # that are open
        self._ended: Dict[str, Dict[int, Dict[str, int]]] = {}  # peaks of this step's phases
        self._growing: Any = None
        self._attempt(self._begin, arm)

    # ---- what a program calls --------------------------------------------------------------------

    def step(self, step: Optional[int] = None) -> Figures:
        """Ends a step.

        step     its number in warnings; None: the one after the last
        returns  its figures; {} without CUDA
        """
        return self._attempt(self._end_step, step) or {}

    def phase(self, name: str) -> Phase:
        """A part of a step, `with watch.phase("forward"):`. Phases may lie in one another."""
        return Phase(self, name)

    def begin_phase(self, name: str) -> None:
        """The same where a `with` cannot stand."""
        self._enter(Phase(self, name))

    def end_phase(self, name: Optional[str] = None) -> None:
        """Ends the phase that began last.

        name  of it, where it is known only now
        """
        if self._phases:
            phase = self._phases[-1]
            phase.name = name or phase.name
            self._leave(phase)

    def figures(self) -> Figures:
        """Of the step so far, which goes on."""
        return self._attempt(self._glance) or {}

    @property
    def dumps(self) -> List[str]:
        """Paths of what was written when memory ran out: a snapshot, or figures where that was caught."""
        return self._attempt(self._dumps) or []

    def close(self, error: Optional[BaseException] = None) -> None:
        """Ends the watch; a second call does nothing.

        error  that ends what was watched; a dump is written where it is for want of memory
        """
        if error is not None:
            self._attempt(self._account, error)
        if not self._is_closed:
            self._is_closed = True
            self._attempt(self._end)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close(error)

    def __repr__(self) -> str:
        words = [f"{self._steps} steps" if self._steps != 1 else "1 step", *self.warnings]
        if self._failure:
            words.append(self._failure)
        return f"<plimsoll.watch: {'; '.join(words)}>"

    # ---- the start and the end -------------------------------------------------------------------

    def _attempt(self, function: Any, *args: Any) -> Any:
        """Calls a function; its failure is never the program's."""
        try:
            return function(*args)
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            return None

    def _begin(self, arm: bool) -> None:
        _agent.load()
        from plimsoll_agent import importing

        if arm and not _is_rehearsed():
            from plimsoll import _arming

            self._attempt(_arming.arm)
        importing.when_imported(
            "torch", lambda torch, _seconds: self._attempt(self._torch_is_there, torch))

    def _torch_is_there(self, torch: Any) -> None:
        found = _intervals.of(torch)
        if found is not None and not self._is_closed:
            self._torch = torch
            self._intervals = found
            self._step = found.begin()

    def _end(self) -> None:
        if self._intervals is not None:
            for phase in list(self._phases):
                self._leave(phase)
            if self._step is not None:
                self._intervals.end(self._step)

    # ---- steps and phases ------------------------------------------------------------------------

    def _end_step(self, step: Optional[int]) -> Figures:
        if self._is_closed or self._intervals is None or self._step is None:
            return {}
        self._steps = step if step is not None else self._steps + 1
        open_ones = [phase.interval for phase in self._phases if phase.interval is not None]
        readings = self._intervals.cut(self._step, *open_ones)
        if not readings:
            return {}
        for phase in self._phases:
            if phase.interval is not None:
                self._add(phase.name, phase.interval.before)
        found = self._named(readings, self._step.before)
        self._ended = {}
        if self._wants_growth:
            self._attempt(self._judge, readings)
        return found

    def _enter(self, phase: Phase) -> None:
        self._phases.append(phase)
        self._attempt(self._open, phase)

    def _open(self, phase: Phase) -> None:
        if self._intervals is not None and not self._is_closed:
            phase.interval = self._intervals.begin()

    def _leave(self, phase: Phase) -> None:
        """Phases that began in it and have not ended end with it."""
        while any(one is phase for one in self._phases):
            last = self._phases.pop()
            self._attempt(self._shut, last)

    def _shut(self, phase: Phase) -> None:
        if self._intervals is not None and phase.interval is not None:
            self._intervals.end(phase.interval)
            self._add(phase.name, phase.interval.peaks)
            phase.interval = None

    def _add(self, name: str, peaks: _intervals.Peaks) -> None:
        """A phase may come several times in a step: its highest counts."""
        known = self._ended.setdefault(name, {})
        for device, found in peaks.items():
            highest = known.setdefault(device, dict.fromkeys(_intervals.PEAKS, 0))
            for figure in _intervals.PEAKS:
                highest[figure] = max(highest[figure], found[figure])

    # ---- figures ---------------------------------------------------------------------------------

    def _glance(self) -> Figures:
        if self._is_closed or self._intervals is None or self._step is None:
            return {}
        readings = self._intervals.glance(self._step)
        return self._named(readings, self._step.peaks) if readings else {}

    def _named(self, readings: List[Any], peaks: _intervals.Peaks) -> Figures:
        """Flat names: of the current device, and of each device where several are in use."""
        used = [index for index, reading in enumerate(readings)
                if peaks.get(index, {}).get("reserved_bytes", 0) > 0]
        current = self._torch.cuda.current_device()
        found: Figures = {}
        if current < len(readings):
            self._of_device("memory/", current, readings[current], peaks, found)
        if len(used) > 1:
            for index in used:
                self._of_device(f"memory/gpu{index}/", index, readings[index], peaks, found)
        return found

    def _of_device(self, prefix: str, index: int, reading: Any, peaks: _intervals.Peaks,
                   found: Figures) -> None:
        for name in _CURRENT:
            value = reading.stats.get(name, {}).get("all", {}).get("current")
            if value is not None:  # this backend counts it
                found[prefix + name] = value
        for name in _intervals.PEAKS:
            found[f"{prefix}peak_{name}"] = peaks[index][name]
        for name in _COUNTS:
            found[prefix + name] = reading.stats.get(name, 0)
        for phase, of_phase in self._ended.items():
            for name in _intervals.PEAKS:
                if index in of_phase:
                    found[f"{prefix}phase/{phase}/peak_{name}"] = of_phase[index][name]

    # ---- growth and failures ---------------------------------------------------------------------

    def _judge(self, readings: List[Any]) -> None:
        if self._growing is None:
            from plimsoll import _growing

            recorder = self._recorder()
            limit = recorder.choice.limit if recorder is not None else None
            self._growing = _growing.Growing(self._torch, limit, self._warn)
        self._growing.stepped(self._steps, readings)

    def _warn(self, sentence: str) -> None:
        from plimsoll import _growing

        sentence = _growing.of_rank(sentence)
        self.warnings.append(sentence)
        if not self._is_quiet:
            _saying.say(sentence)

    def _recorder(self) -> Any:
        from plimsoll import _arming

        return _arming.recorder()

    def _account(self, error: BaseException) -> None:
        """A full account while the frames of the traceback are there."""
        recorder = self._recorder()
        if recorder is not None and recorder.ooms.is_one_in(error):
            recorder.failures.ended(error, False)

    def _dumps(self) -> List[str]:
        recorder = self._recorder()
        if recorder is None:
            return []
        found = []
        for name in recorder.dumps.names:
            path = os.path.join(recorder.folder, name)
            if name.endswith("-oom"):
                found.append(path + (".pickle" if os.path.exists(path + ".pickle") else ".json"))
        return found


def _is_rehearsed() -> bool:
    """A rehearsal accounts for failures itself; a run over the stand-ins has a recorder."""
    return "PLIMSOLL_REHEARSAL" in os.environ and "PLIMSOLL_RUN" not in os.environ
