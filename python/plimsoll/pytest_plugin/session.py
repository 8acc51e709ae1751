"""What the tests of one process have in common, from the first that is measured on."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any, Dict, List, Optional, Tuple

import pytest

from plimsoll import _after, _arming, _found
from plimsoll.pytest_plugin import report as words
from plimsoll.pytest_plugin.gauge import gauge
from plimsoll.pytest_plugin.health import Health
from plimsoll.pytest_plugin.problems import Problems

SHOWN = 5


class Session:
    """
    problems  failures of ours
    root    names of files begin here
    trial   of the test that runs, or None
    """

    def __init__(self, config: pytest.Config, problems: Problems) -> None:
        self.config = config
        self.problems = problems
        self.root = str(config.rootpath)
        self.gauge = gauge(_folder(config))
        self.health = Health()
        self.trial: Optional[Any] = None
        self._fixtures: Dict[int, Any] = {}  # definitions of wider scope that are set up
        self._depth = 0
        self._before = 0

    # ---- fixtures of wider scope ---------------------------------------------------------------

    def fixture_begins(self) -> None:
        self._depth += 1
        if self._depth > 1:  # one that another one requests while it is set up
            return
        if self.trial is not None:
            self.trial.own.pause()
        self._before = sum(self.gauge.allocated())

    def fixture_began(self, definition: Any) -> None:
        self._depth -= 1
        self._fixtures[id(definition)] = definition
        if self._depth > 0:
            return
        if self.trial is not None:
            self.trial.own.resume()
        self.health.fixture_began(definition, sum(self.gauge.allocated()) - self._before)

    def fixture_ended(self, definition: Any) -> None:
        self._fixtures.pop(id(definition), None)
        self.health.fixture_ended(definition)

    def fixtures(self) -> List[Tuple[str, Any]]:
        """[("fixture NAME", value)] of those that are set up."""
        return [(f"fixture {one.argname}", one.cached_result[0])
                for one in self._fixtures.values() if one.cached_result is not None]

    def fixtures_keep(self, held: Dict[str, int]) -> None:
        """{"fixture NAME": bytes} that a test allocated, in values of wider fixtures."""
        for one in self._fixtures.values():
            self.health.fixture_keeps(one, held.pop(f"fixture {one.argname}", 0))

    # ---- failures ------------------------------------------------------------------------------

    def out_of_memory(self, error: BaseException) -> List[str]:
        """Who held the memory, of a test that ran out of it; [] of any other failure."""
        if not _after.is_out_of_memory(error):
            return []
        recorder = _arming.recorder()
        if recorder is None:
            return []
        name = recorder.failures.ended(error, False)
        lines: List[str] = []
        path = os.path.join(recorder.folder, f"{name}.holders.json")
        if name is not None and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines += _found.Holdings(json.load(file)).lines(SHOWN)
        lines += words.before_lines(self.health.left_by(), self.health.healthy)
        snapshot = os.path.join(recorder.folder, f"{name}.pickle")
        if name is not None and os.path.exists(snapshot):
            lines.append(f"The whole account: plimsoll diagnose {shlex.quote(snapshot)}")
        return lines


def _folder(config: pytest.Config) -> Optional[str]:
    """Beside the temporary folders of this session's tests; pytest keeps those of three."""
    factory = getattr(config, "_tmp_path_factory", None)  # None: -p no:tmpdir
    return str(factory.getbasetemp() / "plimsoll") if factory is not None else None
