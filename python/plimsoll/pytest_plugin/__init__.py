"""pytest's plug-in: limits of GPU memory for tests, on a GPU or without one.

    restart               the same pytest again, over the stand-ins; xdist: GPUs of its processes
    options ──► guard ──► limits     what a test's mark asks
                  ├─────► gauge      the figures of the test's memory
                  ├─────► measured   what came of it, which crosses processes of pytest-xdist
                  ├─────► lockfile   its peak, held to one in a file: lock
                  └─────► report     the same in words; summary: the largest tests

The hooks are in `hooks`. It never imports torch where the tests do not, and no failure of ours is a
test's. docs/python/pytest.md shows it at work. As an entry point it is loaded in each environment that
it is installed in: with a pytest that lacks what it is written for it has no hooks at all.
"""

from __future__ import annotations

from typing import Tuple

import pluggy
import pytest


def _release(version: str) -> Tuple[int, ...]:
    """(1, 6) of "1.6.0.dev1"."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


if _release(pytest.__version__) >= (7, 0) and _release(pluggy.__version__) >= (1, 2):
    from plimsoll.pytest_plugin.hooks import *  # noqa: F401,F403
