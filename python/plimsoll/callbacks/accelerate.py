"""Memory in the trackers of an accelerate.Accelerator.

    memory = plimsoll.callbacks.accelerate.MemoryLog(accelerator)
    with memory:
        for batch in loader:
            with accelerator.accumulate(model):
                ...
                optimizer.step()
            memory.step({"loss": loss.item()})
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, ContextManager, Dict, Mapping, Optional, Type

from plimsoll.callbacks._bases import quiet
from plimsoll.callbacks._follower import WARNING, Follower


class MemoryLog:
    """Logs the memory of steps and phases with accelerator.log(), beside the program's own values.

    memory  figures of the last step
    steps   of optimizers, that have ended
    """

    def __init__(self, accelerator: Any, every: int = 1, steps: int = 0) -> None:
        """
        every  this many steps there is an entry
        steps  those before this training, where it is resumed
        """
        self.memory = Follower()
        self.steps = steps
        self._accelerator = accelerator
        self._every = max(every, 1)

    def __enter__(self) -> MemoryLog:
        self._begin()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._end(error)

    def phase(self, name: str) -> ContextManager[Any]:
        """A part of the program, `with memory.phase("evaluate"):`."""
        return self.memory.phase(name)

    def step(self, values: Optional[Mapping[str, Any]] = None) -> None:
        """After each batch. While gradients are accumulated it does nothing.

        values  of the program's own for the entry
        """
        if not self._accelerator.sync_gradients:
            return
        self.steps += 1
        self._follow()
        if self.steps % self._every == 0:
            self.log(values or {})

    def log(self, values: Mapping[str, Any]) -> None:
        """An entry of now: what is not in the log yet, and the values.

        This is the program's own call of accelerator.log(): what that raises is not held back.
        """
        entry: Dict[str, Any] = {}
        self._gather(entry)
        entry.update(values)
        if entry:
            self._accelerator.log(entry, step=self.steps)

    @quiet
    def _begin(self) -> None:
        self.memory.begin()

    @quiet
    def _follow(self) -> None:
        self.memory.step(self.steps)

    @quiet
    def _gather(self, entry: Dict[str, Any]) -> None:
        entry.update(self.memory.take_last())
        warning = self.memory.take_warnings()
        if warning:
            entry[WARNING] = warning

    @quiet
    def _end(self, error: Optional[BaseException]) -> None:
        self.memory.close(error)
