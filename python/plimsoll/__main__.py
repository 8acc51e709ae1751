"""`python -m plimsoll` and, of a wheel, the script `plimsoll`: both become the command."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing itself would take as long as all of this does
if TYPE_CHECKING:
    from typing import List

from plimsoll import _home

_OF_AN_ENVIRONMENT = ("enable", "disable")


def _words() -> List[str]:
    """Those of the command line; where it is about a Python and names none, ours is added."""
    words = sys.argv[1:]
    if words and words[0] in _OF_AN_ENVIRONMENT:
        if not any(word.startswith("--p") for word in words) and sys.executable:
            words.append(f"--python={sys.executable}")
    return words


def main() -> int:
    """Takes the command's place in this process; returns only where there is no command."""
    path = _home.command()
    if path is None:
        sys.stderr.write("plimsoll: the command is missing: install Plimsoll again\n")
        return 127
    try:
        os.execv(path, ["plimsoll", *_words()])
    except OSError as error:
        sys.stderr.write(f"plimsoll: {path} cannot be run: {error.strerror}\n")
    return 126


if __name__ == "__main__":
    sys.exit(main())
