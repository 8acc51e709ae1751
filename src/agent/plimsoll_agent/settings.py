"""What the launcher asks of the agent, from the environment."""

import os
import sys
import time


class Settings:
    """What the launcher asks.

    results   folder for results
    steps     stop after so many optimizer steps; None: never
    history   entries of history per device; 0: no history
    snapshot  write a snapshot at the end
    work      count the work of a step: 1 of the first two, 2 of the second alone; None: do not
    started   when the process began its Python, of time.monotonic()
    """

    def __init__(self, results, steps=None, history=0, snapshot=False, work=None):
        self.results = results
        self.steps = steps
        self.history = history
        self.snapshot = snapshot
        self.work = work
        self.started = time.monotonic()


def _whole_number(text):
    """A number above 0, or None for all else."""
    try:
        return max(int(text), 0) or None
    except (TypeError, ValueError):
        return None


def from_environment(run, environment=os.environ):
    """The settings that the launcher left in the environment."""
    history = environment.get("PLIMSOLL_HISTORY", "0")
    return Settings(
        results=os.path.join(run, "results"),
        steps=_whole_number(environment.get("PLIMSOLL_STEPS")),
        history=sys.maxsize if history == "all" else _whole_number(history) or 0,
        snapshot=environment.get("PLIMSOLL_SNAPSHOT") == "1",
        work=_whole_number(environment.get("PLIMSOLL_WORK")),
    )
