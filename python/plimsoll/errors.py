"""What the functions of this package raise: each says what failed, where and what to try."""

from __future__ import annotations

from typing import Any, Optional, Sequence


class PlimsollError(Exception):
    """The base of all of them.

    reason    one line: what failed and what to try
    file      the input that it is about; None: it is not about one
    position  the byte in that file; None: it has no place
    found     what the function would have returned, where the answer is there and something else
              failed, as an output that cannot be written; else None
    """

    def __init__(self, reason: str, file: Optional[str] = None,
                 position: Optional[int] = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.position = position
        self.found: Any = None

    def __str__(self) -> str:
        place = f" (at byte {self.position})" if self.position is not None else ""
        return (f"{self.file}: " if self.file is not None else "") + self.reason + place


class InputError(PlimsollError):
    """A file could not be read, or is not what it should be."""


class UsageError(PlimsollError, ValueError):
    """An argument that the command refuses."""


class CommandError(PlimsollError):
    """The command itself failed: it is missing, was killed, or wrote no document.

    words   what was started
    status  its exit status; negative: the signal that ended it; None: it was not started
    """

    def __init__(self, reason: str, words: Sequence[str] = (), status: Optional[int] = None) -> None:
        super().__init__(reason)
        self.words = list(words)
        self.status = status
