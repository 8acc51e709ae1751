"""Growth over the steps of a watch, by the agent's judge (src/agent/plimsoll_agent/live/growth.py)."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List


class Surroundings:
    """As much of the recorder as the judge needs, also where none is armed."""

    def __init__(self, torch: Any, limit: Any) -> None:
        from plimsoll_agent.blackbox.choice import Choice
        from plimsoll_agent.journal import Journal
        from plimsoll_agent.places import Places

        self.torch = torch
        self.journal = Journal()
        self.places = Places(torch.__file__)
        self.choice = Choice("", limit=limit)


class Growing:
    """Of all devices."""

    def __init__(self, torch: Any, limit: Any, say: Callable[[str], None]) -> None:
        """
        limit  bytes that the process may take, or None
        say    gets one sentence for each device whose memory grows
        """
        from plimsoll_agent.live import watch

        self._torch = torch
        self._watch: Any = watch.Watch(Surroundings(torch, limit), say, is_exact=True)
        self._devices: Dict[int, Any] = {}

    def stepped(self, step: int, readings: List[Any]) -> None:
        """A step has ended with readings, by device."""
        from plimsoll_agent.live import figures, page

        for index, reading in enumerate(readings):
            if reading.current["reserved_bytes"] == 0 and index not in self._devices:
                continue
            if index not in self._devices:
                made = self._devices[index] = page.Device(index)
                made.total = self._torch.cuda.get_device_properties(index).total_memory
            shown = self._devices[index]
            highest = shown.peak_allocated
            figures.take(shown, reading.stats)
            shown.peak_allocated = max(highest, shown.peak_allocated)
            self._watch.stepped(shown, step)


def of_rank(sentence: str) -> str:
    """The same with this process' rank, where it is one of several."""
    rank, ranks = os.environ.get("RANK"), os.environ.get("WORLD_SIZE", "1")
    return f"rank {rank}: {sentence}" if rank and ranks != "1" else sentence
