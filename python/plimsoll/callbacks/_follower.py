"""What all callbacks do: follow a training's steps and phases, and gather figures for its log."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from typing import Any, ContextManager, Dict, List, Optional, Set, Union

from plimsoll import _saying

WARNING = "memory/warning"  # name of a sentence in the log
Figures = Dict[str, Union[int, float]]


class Follower:
    """Of one training at a time.

    figures  of the step that ended last
    watch    plimsoll.Watch of the training that goes on, or None
    """

    def __init__(self) -> None:
        self.figures: Figures = {}
        self.watch: Any = None
        self._phase: Any = None  # that is open
        self._unlogged: Figures = {}
        self._logged_phases: List[str] = []  # of the step that goes on
        self._warnings = 0  # that are in the log
        self._dumps: Set[str] = set()  # that are said, or of before
        self._has_failed = False

    # ---- the training ----------------------------------------------------------------------------

    def begin(self) -> None:
        """Where one goes on, it was left without an end."""
        from plimsoll._watch import Watch

        self.close()
        self.watch = Watch()
        self._dumps.update(self.watch.dumps)
        self._unlogged = {}
        self._logged_phases = []
        self._warnings = 0

    def close(self, error: Optional[BaseException] = None) -> None:
        """
        error  that ends it
        """
        watch, self.watch, self._phase = self.watch, None, None
        if watch is not None:
            watch.close(error)
            self._say_dumps(watch)

    def step(self, number: int) -> None:
        """An optimizer's step has ended."""
        if self.watch is not None:
            self.end_phase()
            self.figures = self.watch.step(number)
            self._keep(self.figures)
            self._logged_phases = []

    # ---- phases ----------------------------------------------------------------------------------

    def begin_phase(self, name: str) -> None:
        """Ends the one before it."""
        self.end_phase()
        if self.watch is not None:
            self._phase = self.watch.phase(name)
            self._phase.__enter__()

    def end_phase(self, name: Optional[str] = None) -> None:
        """
        name  of it, where it is known only now
        """
        if self._phase is not None:
            phase, self._phase = self._phase, None
            phase.name = name or phase.name
            phase.__exit__(None, None, None)

    def phase(self, name: str) -> ContextManager[Any]:
        """One of the program's own, `with memory.phase("generate"):`."""
        if self.watch is None:
            return nullcontext()
        found: ContextManager[Any] = self.watch.phase(name)
        return found

    @property
    def is_in_phase(self) -> bool:
        return self._phase is not None

    # ---- the log ---------------------------------------------------------------------------------

    def take(self) -> Figures:
        """For an entry of the log: peaks since the entry before, all else as of the last step."""
        if self.watch is None:
            return {}
        found, self._unlogged = self._unlogged, {}
        return found

    def take_last(self) -> Figures:
        """For the last entry: with the phases that came after the last step."""
        if self.watch is not None:
            self._keep({name: value for name, value in self.watch.figures().items()
                        if "/phase/" in name})
        return self.take()

    def take_phase(self, name: str) -> Figures:
        """Ends the open phase, for an entry of its own."""
        self.end_phase(name)
        if self.watch is None:
            return {}
        self._logged_phases.append(name)
        return {figure: value for figure, value in self.watch.figures().items()
                if f"/phase/{name}/" in figure}

    def take_warnings(self) -> str:
        """Those that are not in the log yet; \"\" mostly."""
        if self.watch is None:
            return ""
        fresh = self.watch.warnings[self._warnings:]
        self._warnings += len(fresh)
        return "; ".join(fresh)

    def _keep(self, figures: Figures) -> None:
        for name, value in figures.items():
            if any(f"/phase/{phase}/" in name for phase in self._logged_phases):
                continue
            if name.rpartition("/")[2].startswith("peak_"):
                value = max(value, self._unlogged.get(name, 0))
            self._unlogged[name] = value

    # ---- lines -----------------------------------------------------------------------------------

    def _say_dumps(self, watch: Any) -> None:
        for path in watch.dumps:
            if path in self._dumps:
                continue
            self._dumps.add(path)
            if path.endswith(".pickle"):
                _saying.say(f"memory ran out; the whole account: plimsoll diagnose {shlex.quote(path)}")
            else:  # it was caught: no snapshot was made
                _saying.say(f"memory ran out; figures and holders: {path}")

    def failed(self, error: Exception) -> None:
        """Of ours, once: the training goes on without."""
        if not self._has_failed:
            self._has_failed = True
            _saying.say(f"memory is not logged: {type(error).__name__}: {error}")
