"""Which tests left memory that later ones still find, and the last test that began without it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple


class Health:
    """Of the tests of one process that are measured, in their order.

    What fixtures of wider scope took when they were set up is theirs until they are finished.
    """

    def __init__(self) -> None:
        self._wider: Dict[int, int] = {}  # {id of a fixture's definition: bytes}
        self._allowed = 0  # that tests left and may stay
        self._healthy: Optional[str] = None
        self._since: List[Tuple[str, int]] = []  # (test, bytes beyond) since then, it included

    def fixture_began(self, definition: Any, taken: int) -> None:
        self._wider[id(definition)] = taken

    def fixture_ended(self, definition: Any) -> None:
        self._wider.pop(id(definition), None)

    def fixture_keeps(self, definition: Any, more: int) -> None:
        """Its value holds what a test has allocated, until it is finished."""
        self._wider[id(definition)] = self._wider.get(id(definition), 0) + more

    def allow(self, left: int) -> None:
        """Bytes that a test left and that may stay."""
        self._allowed += left

    def test_begins(self, nodeid: str, allocated: int) -> None:
        """After what waited to be given back was."""
        beyond = max(allocated - sum(self._wider.values()) - self._allowed, 0)
        if beyond == 0:
            self._healthy = nodeid
            self._since.clear()
        self._since.append((nodeid, beyond))

    @property
    def healthy(self) -> Optional[str]:
        return self._healthy

    def left_by(self) -> List[Tuple[str, int]]:
        """[(test, bytes)] that were still there when the current test began, the largest first."""
        found = [(before[0], after[1] - before[1])
                 for before, after in zip(self._since, self._since[1:]) if after[1] > before[1]]
        return sorted(found, key=lambda one: -one[1])
