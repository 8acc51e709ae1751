"""`--plimsoll-lock`: holds tests to the peaks in a committed file, and writes that file."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, NamedTuple, Optional

import pytest

from plimsoll.pytest_plugin import lock, xdist
from plimsoll.pytest_plugin.measured import Measured

SHOWN = 5  # tests that a line names


class Outcome(NamedTuple):
    """What the file has to say of one test.

    word      "locked", "above", "below" or "new": not in it
    sentence  why the test fails; None: it does not
    """

    word: str
    sentence: Optional[str] = None


_LOCKING = pytest.StashKey["Locking"]()


def add(parser: pytest.Parser) -> None:
    """Of pytest_addoption."""
    group = parser.getgroup("plimsoll", "GPU memory (plimsoll)")
    group.addoption("--plimsoll-lock", metavar="FILE", default=None,
                    help="hold each test to its peak in this file: it fails where that is 1 %% and "
                         "1 MiB higher")
    group.addoption("--plimsoll-lock-update", action="store_true", default=False,
                    help="write the peaks of the tests that pass into that file")
    parser.addini("plimsoll_lock", "as --plimsoll-lock, from the folder of this file", default="")


def register(config: pytest.Config) -> None:
    """Of pytest_configure, before the tests are measured.

    errors  pytest.UsageError: no lock, or not a good one
    """
    updates = bool(config.getoption("plimsoll_lock_update"))
    given = str(config.getoption("plimsoll_lock") or "")
    folder = config.invocation_params.dir
    if not given:
        given = str(config.getini("plimsoll_lock") or "")
        folder = config.inipath.parent if config.inipath is not None else config.rootpath
    if not given:
        if updates:
            raise pytest.UsageError("--plimsoll-lock-update writes a file: name it, as "
                                    "--plimsoll-lock=plimsoll.lock")
        return
    path = str(folder / given)
    config.option.plimsoll_lock = path  # measures all tests, from the ini file too
    locking = Locking(given, _read(given, path, updates), updates)
    config.stash[_LOCKING] = locking
    if not xdist.is_worker():
        config.pluginmanager.register(locking, "plimsoll-lock")


def _read(name: str, path: str, updates: bool) -> lock.Lock:
    try:
        return lock.Lock.read(path)
    except FileNotFoundError:
        if updates:
            return lock.Lock(path)
        raise pytest.UsageError(f"{name}: is not there: --plimsoll-lock-update writes it") from None
    except lock.LockError as error:
        raise pytest.UsageError(str(error)) from None


def wants_lines(config: pytest.Config, found: Measured) -> bool:
    """True if the lines at a test's peak are for the file, or for the reason that it fails.

    Notes the machine in `found`.
    """
    locking = config.stash.get(_LOCKING, None)
    if locking is None or not found.is_in_use:
        return False
    found.machine = _machine()
    return locking.updates or locking.compare(found).word == "above"


def judge(config: pytest.Config, found: Measured) -> Optional[str]:
    """Why a test that passed fails by the lock, after wants_lines(); None: it does not."""
    locking = config.stash.get(_LOCKING, None)
    if locking is None or locking.updates or not found.machine:
        return None
    return locking.compare(found).sentence


def word_of(config: pytest.Config, found: Measured) -> str:
    """ "locked", "above", "below", "new"; "" where there is no lock, or it has no say."""
    locking = config.stash.get(_LOCKING, None)
    if locking is None or locking.updates or not found.machine:
        return ""
    return locking.compare(found).word


def _machine() -> Dict[str, Any]:
    """All that a peak depends on but the test."""
    torch = sys.modules["torch"]
    about = torch.cuda.get_device_properties(0)
    conf = os.environ.get("PYTORCH_CUDA_ALLOC_CONF") or os.environ.get("PYTORCH_ALLOC_CONF") or ""
    return {"gpu": about.name, "devices": torch.cuda.device_count(),
            "capacity_bytes": about.total_memory, "conf": conf, "torch": str(torch.__version__)}


def _entry(found: Measured) -> lock.Entry:
    file = found.nodeid.split("::")[0]
    groups = [{"bytes": one.bytes, "count": one.count, "stack": lock.cut(one.stack, file)}
              for one in found.peak_lines]
    return lock.entry(found.nodeid, found.machine, found.device, found.allocated_peak_bytes, groups)


class Locking:
    """Of one session of pytest; as a plug-in of the process that writes the file.

    name     of the file, as it was given
    updates  it is written, and no test is held to it
    """

    def __init__(self, name: str, locked: lock.Lock, updates: bool) -> None:
        self.name = name
        self.updates = updates
        self._lock = locked
        self._found: Dict[str, Measured] = {}
        self._lines: List[str] = []

    # ---- a test --------------------------------------------------------------------------------

    def compare(self, found: Measured) -> Outcome:
        """A test held to its entry."""
        from plimsoll._found import size

        now = _entry(found)
        before = self._lock.find(now)
        if before is None:
            return Outcome("new")
        peak, locked = lock.peak_of(now), lock.peak_of(before)
        if lock.is_above(locked, peak, locked):
            return Outcome("below")
        if not lock.is_above(peak, locked, locked):
            return Outcome("locked")
        line = lock.grown(before, now)
        where = ""
        if line is not None:
            said = {"grew": "grew by", "new": "is new,", "large": "is new among the largest,"}
            where = f"; {line.where} {said[line.how]} {size(line.by)}"
        torch = ("" if before["torch"] == now["torch"] else
                 f"; it was locked with PyTorch {before['torch']}")
        return Outcome("above", f"GPU memory: {size(peak)} allocated at the peak, {size(peak - locked)} "
                       f"above the {size(locked)} of {self.name}{where}{torch}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = Measured.from_report(report)
        if found is not None:
            if report.failed:
                found.outcome = "failed"  # its teardown, too
            self._found[found.nodeid] = found

    # ---- the session ---------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.updates:
            self._lines = self._say_checked()
            return
        try:
            self._lines = [self._update()]
        except lock.LockError as error:
            self._lines = [f"{error}: no peak was locked"]
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _update(self) -> str:
        """Tests that did not run, or failed, keep their entries."""
        passed = [one for one in self._found.values() if one.outcome == "passed" and one.machine]
        if not passed:
            return f"No test that passed used CUDA: {self.name} is as it was"
        try:
            locked = lock.Lock.read(self._lock.path)  # another session may have written it
        except FileNotFoundError:
            locked = lock.Lock(self._lock.path)
        for found in passed:
            if found.allocated_peak_bytes > 0:
                locked.put(_entry(found))
            else:
                locked.drop(_entry(found))
        is_new = locked.write()
        count = sum(one.allocated_peak_bytes > 0 for one in passed)
        return (f"{_tests(count)} locked in {self.name}" if is_new else
                f"{_tests(count)} locked in {self.name}, which is as it was")

    def _say_checked(self) -> List[str]:
        by_word: Dict[str, List[str]] = {}
        for found in self._found.values():
            if found.machine and (found.allocated_peak_bytes > 0 or self._lock.find(_entry(found))):
                by_word.setdefault(self.compare(found).word, []).append(found.nodeid)
        lines = []
        for word, said in (("new", "not in"), ("below", "below their peaks in")):
            tests = by_word.get(word, [])
            if tests:
                lines.append(f"{_tests(len(tests))} {said} {self.name} (--plimsoll-lock-update takes "
                             "them on)")
                lines += [f"  {nodeid}" for nodeid in sorted(tests)[:SHOWN]]
                if len(tests) > SHOWN:
                    lines.append(f"  and {len(tests) - SHOWN} more")
        held = len(by_word.get("locked", [])) + len(by_word.get("below", []))
        lines.insert(0, f"{_tests(held)} within {self.name}, {len(by_word.get('above', []))} above")
        return lines

    def lines(self) -> List[str]:
        """What became of it, once the session is finished."""
        return self._lines


def lines(config: pytest.Config) -> List[str]:
    """For the summary."""
    locking = config.stash.get(_LOCKING, None)
    return locking.lines() if locking is not None else []


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
