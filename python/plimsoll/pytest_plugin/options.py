"""The options of the plug-in, and those of its ini file."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import List, Optional

import pytest

from plimsoll.pytest_plugin.limits import Bound, LimitError, size

MARK = ("gpu_memory(limit, growth, left, warmups, steps, counts, filter_fn): fails the test where "
        "it allocates more GPU memory than the limit, as \"2GiB\"; where each step adds more than "
        "the growth, as \"0B/step\"; where it leaves more than `left` on the device")


def add(parser: pytest.Parser) -> None:
    """Of pytest_addoption."""
    group = parser.getgroup("plimsoll", "GPU memory (plimsoll)")
    group.addoption("--plimsoll-limit", metavar="SIZE", default=None,
                    help="limit of GPU memory for tests without one of their own, as 2GiB")
    group.addoption("--plimsoll-leaks", dest="plimsoll_leaks", action="store_const",
                    const="report", default=None,
                    help="name the GPU memory that each test leaves")
    group.addoption("--plimsoll-leaks-fail", dest="plimsoll_leaks", action="store_const",
                    const="fail", default=None, help="fail each test that leaves GPU memory")
    group.addoption("--plimsoll-only", metavar="GLOB", action="append", default=None,
                    help="tests that --plimsoll-limit, --plimsoll-leaks and --plimsoll-lock are "
                         "for, by node id, as '*/test_models.py::*'; may be given more than once")
    parser.addini("plimsoll_limit", "as --plimsoll-limit", default="")
    parser.addini("plimsoll_leaks", "report: as --plimsoll-leaks; fail: as --plimsoll-leaks-fail",
                  default="off")
    parser.addini("plimsoll_ignore_left", "objects that may stay on the device, by globs of what "
                  "is said of them, as '*`cache` of module models.kv*'", type="linelist",
                  default=[])
    parser.addini("plimsoll_only", "as --plimsoll-only", type="linelist", default=[])


class Options:
    """What was chosen for all tests.

    limit     of each test without one of its own, or None
    leaks     "off", "report" or "fail"
    measures_all  whether tests are measured that have neither limit nor mark

    errors  pytest.UsageError
    """

    def __init__(self, config: pytest.Config) -> None:
        self.limit = _limit(config)
        self.leaks: str = config.getoption("plimsoll_leaks") or config.getini("plimsoll_leaks")
        if self.leaks not in ("off", "report", "fail"):
            raise pytest.UsageError(f"plimsoll_leaks = {self.leaks}: give report, fail or off")
        self._only: List[str] = (config.getoption("plimsoll_only")
                                 or config.getini("plimsoll_only"))
        self._ignored: List[str] = config.getini("plimsoll_ignore_left")
        self.measures_all = bool(config.getoption("plimsoll_lock", None))

    def covers(self, nodeid: str) -> bool:
        """Whether options are for a test; its mark is, whatever they say."""
        return not self._only or any(fnmatchcase(nodeid, one) for one in self._only)

    def ignores(self, text: str) -> bool:
        """Whether an object that a test left may stay."""
        return any(fnmatchcase(text, one) for one in self._ignored)


def _limit(config: pytest.Config) -> Optional[Bound]:
    for name, given in (("--plimsoll-limit", config.getoption("plimsoll_limit")),
                        ("plimsoll_limit", config.getini("plimsoll_limit"))):
        if given:
            try:
                return Bound(size(given), str(given))
            except LimitError as error:
                raise pytest.UsageError(f"{name}={given}: {error}") from None
    return None
