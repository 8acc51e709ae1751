"""Measures the tests that are limited, and fails those that exceed a limit."""

from __future__ import annotations

from typing import Any, Dict, Generator, List, Optional

import pytest

from plimsoll._found import size
from plimsoll.pytest_plugin import report as words, summary
from plimsoll.pytest_plugin.limits import Bound, LimitError, Limits, of_marks
from plimsoll.pytest_plugin.measured import PROPERTY, Measured
from plimsoll.pytest_plugin.options import MARK, Options
from plimsoll.pytest_plugin.problems import Problems
from plimsoll.pytest_plugin.trial import Trial

_LIMITS = pytest.StashKey[Limits]()
_WRONG = pytest.StashKey[str]()
_TRIAL = pytest.StashKey[Trial]()
_HEADING = "GPU memory"


def register(config: pytest.Config) -> None:
    """Of pytest_configure."""
    config.addinivalue_line("markers", MARK)
    config.pluginmanager.register(Guard(config), "plimsoll-guard")


class Guard:
    """Of one session of pytest, in one process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = Options(config)
        self._session: Optional[Any] = None  # a Session, from the first test that is measured on
        self._found: Dict[str, Measured] = {}  # of reports, those of other processes among them
        self._problems = Problems()
        self._attempt = self._problems.attempt

    # ---- collection ----------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)  # conftests add marks in theirs
    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        for item in items:
            try:
                limits = of_marks(item.iter_markers("gpu_memory"))
            except LimitError as error:
                wrong = f"{item.nodeid}: gpu_memory: {error}"
                if not hasattr(self._config, "workerinput"):
                    raise pytest.UsageError(wrong) from None
                item.stash[_WRONG] = wrong  # a process of pytest-xdist has no way to say so itself
                continue
            if limits is not None:
                item.stash[_LIMITS] = limits

    def _limits(self, item: pytest.Item) -> Optional[Limits]:
        """None: the test is not measured."""
        limits = item.stash.get(_LIMITS, None)
        options = self._options
        if not options.covers(item.nodeid):
            return limits
        if limits is None and (options.limit or options.leaks != "off" or options.measures_all):
            limits = Limits()
        if limits is None:
            return None
        if limits.limit is None and options.limit is not None and "limit" not in limits.given:
            limits = limits._replace(limit=options.limit)
        if limits.left is None and options.leaks == "fail" and "left" not in limits.given:
            limits = limits._replace(left=Bound(0, "0B"))
        return limits

    # ---- a test --------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        __tracebackhide__ = True
        if _TRIAL in item.stash:  # of a run before, where failed tests run again
            del item.stash[_TRIAL]
        limits = self._limits(item)
        if limits is not None:
            self._attempt("measure a test", self._begin, item, limits)
        answer = yield
        trial = item.stash.get(_TRIAL, None)
        if trial is not None:
            self._attempt("wait for a test's end", trial.wait)
        return answer

    def _begin(self, item: pytest.Item, limits: Limits) -> None:
        from plimsoll.pytest_plugin.session import Session

        if self._session is None:
            self._session = Session(self._config, self._problems)
        item.stash[_TRIAL] = Trial(item, limits, self._options, self._session)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        __tracebackhide__ = True
        session = self._session
        if session is None:
            return (yield)
        if fixturedef.scope == "function":
            if session.trial is not None:
                self._attempt("wait for a test's end", session.trial.wait)
            return (yield)
        self._attempt("look before a fixture", session.fixture_begins)
        try:
            return (yield)
        finally:
            self._attempt("look after a fixture", session.fixture_began, fixturedef)

    @pytest.hookimpl
    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        if self._session is not None and fixturedef.scope != "function":
            self._session.fixture_ended(fixturedef)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        __tracebackhide__ = True
        if _WRONG in item.stash:
            _fail([item.stash[_WRONG]])
        trial = item.stash.get(_TRIAL, None)
        if trial is None:
            return (yield)
        self._attempt("begin a test's call", trial.call_begins)
        try:
            answer = yield
            if getattr(item, "_excinfo", None):  # of unittest: pytest raises it later
                trial.found.outcome = "failed"
        except BaseException as error:
            is_skipped = isinstance(error, pytest.skip.Exception)
            trial.found.outcome = "skipped" if is_skipped else "failed"
            raise
        finally:
            self._attempt("measure a test", trial.call_ended)
            self._note(item, trial)
        if trial.found.outcome == "passed":
            self._fail_for(item, trial, "judge a test", trial.judge_peak)
            self._fail_for(item, trial, "hold a test to its lock", trial.judge_lock)
            self._run_again(item, trial)
            self._fail_for(item, trial, "judge a test's growth", trial.judge_growth)
        return answer

    def _fail_for(self, item: pytest.Item, trial: Trial, what: str, judge: Any) -> None:
        """Fails the test where a judge has reasons to."""
        reasons = self._attempt(what, judge)
        if reasons:
            trial.found.outcome = "failed"
        self._note(item, trial)
        if reasons:
            _fail(reasons)

    def _run_again(self, item: pytest.Item, trial: Trial) -> None:
        """The test's body, for its growth. What it raises is the test's."""
        __tracebackhide__ = True
        runs = self._attempt("measure the growth", trial.runs_wanted) or 0
        for run in range(2, runs + 1):
            try:
                item.runtest()
                if getattr(item, "_excinfo", None):
                    raise pytest.fail.Exception("", pytrace=False)
            except BaseException:
                trial.found.outcome = "failed"
                item.add_report_section("call", "gpu_memory", (
                    f"The test passed once and failed in run {run} of {runs}, which are made "
                    "for its growth.\n"))
                self._note(item, trial)
                raise
            self._attempt("measure a run", trial.run_ended)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        __tracebackhide__ = True
        trial = item.stash.get(_TRIAL, None)
        try:
            answer = yield
        finally:
            if trial is not None:
                self._attempt("end a test", trial.end)
        if trial is not None:
            self._fail_for(item, trial, "judge what a test left", trial.judge_left)
        return answer

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item,
                                  call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if self._session is not None and call.excinfo is not None:
            lines = self._attempt("say who held the memory", self._session.out_of_memory,
                                  call.excinfo.value)
            if lines:
                report.sections.append((_HEADING, "\n".join(lines)))
        return report

    # ---- what was found ------------------------------------------------------------------------

    def _note(self, item: pytest.Item, trial: Trial) -> None:
        """Leaves it where reports, pytest-xdist and JUnit's files find it."""
        trial.found.problem = self._problems.first()
        others = [one for one in item.user_properties if one[0] != PROPERTY]
        item.user_properties[:] = [*others, (PROPERTY, trial.found.as_property())]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = self._attempt("read a report", Measured.from_report, report)
        if found is not None:
            self._found[found.nodeid] = found

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = self._attempt("sum up", self._summary) or []
        lines += [f"plimsoll {one}; the tests are not affected" for one in self._all_problems()]
        if lines:
            terminalreporter.write_sep("=", _HEADING)
            for line in lines:
                terminalreporter.write_line(line)

    def _all_problems(self) -> List[str]:
        for found in self._found.values():
            if found.problem is not None:
                self._problems.add(found.problem)
        return self._problems.lines()

    def _summary(self) -> List[str]:
        lines = summary.lines(self._config, list(self._found.values()))
        if self._options.leaks == "report":
            for found in self._found.values():
                if found.left_bytes:
                    lines.append(f"{found.nodeid} left {size(found.left_bytes)}")
                    lines += words.left_lines(found.left)
        count = sum(found.is_marked and found.outcome == "passed"
                    for found in self._found.values())
        if count and not any(found.is_in_use for found in self._found.values()):
            lines.append(words.unguarded(count))
        return lines


def _fail(reasons: List[str]) -> None:
    pytest.fail("\n".join(reasons), pytrace=False)
