"""Finds what belongs to this package: the command, and the folder that programs are started with.

There are three layouts. A wheel has everything in `_native/` inside this package; an installation
(`make install`, the Debian package) has this package in lib/plimsoll/rehearse/python; a build tree has
it in build/release/rehearse/python.
"""

import os
import shutil
from typing import Iterator, Optional

# The Debian package links the folder into dist-packages. Its files are not followed further: installers
# may link each of them to a cache of their own.
_HERE = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))
_WHEEL = os.path.join(_HERE, "_native")
_BESIDE = os.path.dirname(os.path.dirname(_HERE))  # the folder `rehearse` of the other two


def _folders() -> Iterator[str]:
    yield os.path.join(_WHEEL, "rehearse")
    yield _BESIDE


def rehearse() -> Optional[str]:
    """The folder with the agent and the stand-ins; None: this package came without them."""
    for folder in _folders():
        if os.path.isdir(os.path.join(folder, "agent", "plimsoll_agent")):
            return folder
    return None


def _commands() -> Iterator[str]:
    given = os.environ.get("PLIMSOLL_COMMAND")
    if given:
        yield given
    yield os.path.join(_WHEEL, "plimsoll")
    yield os.path.join(os.path.dirname(_BESIDE), "plimsoll")  # a build tree
    yield os.path.join(_BESIDE, os.pardir, os.pardir, os.pardir, "bin", "plimsoll")


def command() -> Optional[str]:
    """The path of the command: PLIMSOLL_COMMAND, else ours, else that of PATH; None: there is not one."""
    for path in _commands():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return shutil.which("plimsoll")
