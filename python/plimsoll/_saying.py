"""Lines for the person at the program's terminal."""

from __future__ import annotations

import os


def say(line: str) -> None:
    """One line on stderr, unless PLIMSOLL_QUIET is 1."""
    if os.environ.get("PLIMSOLL_QUIET") != "1":
        try:
            os.write(2, f"plimsoll: {line}\n".encode("utf-8", "replace"))
        except OSError:
            pass
