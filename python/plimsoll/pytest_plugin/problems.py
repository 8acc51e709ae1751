"""Failures of ours: each is a line of the summary, and none is a test's."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional


class Problems:
    """Of one process; each once."""

    def __init__(self) -> None:
        self._lines: Dict[str, None] = {}

    def add(self, line: str) -> None:
        self._lines[line] = None

    def first(self) -> Optional[str]:
        return next(iter(self._lines), None)

    def lines(self) -> List[str]:
        return list(self._lines)

    def attempt(self, what: str, function: Callable[..., Any], *args: Any) -> Any:
        """What a function answers; None where it fails.

        what  completes "could not …"
        """
        try:
            return function(*args)
        except Exception as error:
            self.add(f"could not {what}: {type(error).__name__}: {error}")
            return None
