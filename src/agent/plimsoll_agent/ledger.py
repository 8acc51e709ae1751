"""The peaks of a device by phase and by step.

A step's window ends when an optimizer has stepped. Where several optimizers take turns in one
iteration, the window after the first one's turns out later to belong to the same step: then it is
merged into it. So the last window that ended is kept open to that until the next one ends.
"""

from plimsoll_agent.peaks import FIGURES

STEPS_MAX = 1000  # listed one by one; the peak counts all


class _Window:
    """What happened from one optimizer step to the next."""

    def __init__(self, step):
        self.step = step
        self.allocated = 0
        self.reserved = 0
        self.end_allocated = 0
        self.phase = None  # in which allocated was highest

    def add(self, allocated, reserved, end_allocated, phase):
        if self.phase is None or allocated > self.allocated:
            self.allocated = allocated
            self.phase = phase
        self.reserved = max(self.reserved, reserved)
        self.end_allocated = end_allocated

    def as_result(self):
        return {
            "step": self.step,
            "peak_allocated_bytes": self.allocated,
            "peak_reserved_bytes": self.reserved,
            "end_allocated_bytes": self.end_allocated,
        }


class Ledger:
    """Of one device."""

    def __init__(self):
        self.peaks = dict.fromkeys(FIGURES, 0)
        self.current = dict.fromkeys(FIGURES, 0)
        self._phases = {}  # {phase: (allocated, reserved)}
        self._settled = []  # finished windows, the first STEPS_MAX
        self._highest = None  # the window of the highest peak among all that are settled
        self._last = None  # finished, may yet be taken up again
        self._open = _Window(0)  # step 0: before the first forward

    def add(self, reading, phase):
        """An interval that lay in one phase."""
        for name in FIGURES:
            self.peaks[name] = max(self.peaks[name], reading.peaks[name])
        self.current = reading.current
        allocated = reading.peaks["allocated_bytes"]
        reserved = reading.peaks["reserved_bytes"]
        before = self._phases.get(phase, (0, 0))
        self._phases[phase] = (max(before[0], allocated), max(before[1], reserved))
        self._open.add(allocated, reserved, reading.current["allocated_bytes"], phase)

    def turn(self):
        """The open window is finished, the next step's begins."""
        if self._last is not None:
            self._settle(self._last)
        self._last = self._open
        self._open = _Window(self._last.step + 1)

    def rejoin(self):
        """The open window belongs to the step of the last one."""
        if self._last is None or self._last.step == 0:
            return
        late, self._open, self._last = self._open, self._last, None
        if late.phase is not None:
            self._open.add(late.allocated, late.reserved, late.end_allocated, late.phase)

    def step_now(self):
        """The step of the open window."""
        return self._open.step

    def _settle(self, window):
        if window.step > 0 and len(self._settled) < STEPS_MAX:
            self._settled.append(window)
        if self._highest is None or window.allocated > self._highest.allocated:
            self._highest = window

    def was_used(self):
        return self.peaks["reserved_bytes"] > 0

    def as_result(self, steps_done):
        """For the results.

        steps_done  how many steps the program has finished
        """
        windows = [window for window in (self._last, self._open) if window is not None]
        highest = self._highest
        for window in windows:
            if highest is None or window.allocated > highest.allocated:
                highest = window
        finished = self._settled + [w for w in windows if 0 < w.step <= steps_done]
        result = {
            "allocated_bytes": self.current["allocated_bytes"],
            "reserved_bytes": self.current["reserved_bytes"],
        }
        result.update((f"peak_{name}", self.peaks[name]) for name in FIGURES)
        result["peak_step"] = highest.step
        result["peak_phase"] = highest.phase or "setup"
        result["phases"] = [
            {"phase": phase, "peak_allocated_bytes": peaks[0], "peak_reserved_bytes": peaks[1]}
            for phase, peaks in self._phases.items()
        ]
        result["steps"] = [window.as_result() for window in finished[:STEPS_MAX]]
        return result
