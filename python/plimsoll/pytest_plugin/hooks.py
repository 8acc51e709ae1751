"""The hooks of the plug-in, and nothing else."""

from __future__ import annotations

from typing import Any, Iterator, List, Sequence

import pytest

from plimsoll.pytest_plugin import lockfile, options, restart, xdist


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add(parser)
    restart.add(parser)
    lockfile.add(parser)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # before output is captured
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    restart.begin(early_config)
    yield


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    from plimsoll.pytest_plugin import guard

    restart.entered(config)
    lockfile.register(config)
    guard.register(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    restart.left(config)


def pytest_report_header(config: pytest.Config) -> List[str]:
    return restart.header(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    over = config.stash.get(restart.SIMULATED, None)
    if over is not None and over.total:
        xdist.share_out(specs, over.devices, over.total)
