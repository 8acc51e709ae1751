"""The largest tests, in a table under pytest's summary."""

from __future__ import annotations

from typing import List, Sequence

import pytest

from plimsoll.pytest_plugin import lockfile
from plimsoll.pytest_plugin.measured import Measured

SHOWN = 5


def lines(config: pytest.Config, every: Sequence[Measured]) -> List[str]:
    """Lines of the section; [] where no test allocated memory. With -v all tests, with -q none.

    every  of the tests that were measured
    """
    used = sorted((one for one in every if one.allocated_peak_bytes > 0),
                  key=lambda one: (-one.allocated_peak_bytes, one.nodeid))
    verbose = config.get_verbosity() if hasattr(config, "get_verbosity") else config.option.verbose
    shown = used if verbose > 0 else used[:SHOWN] if verbose == 0 else []
    return _table(config, shown, len(used)) + lockfile.lines(config)


def _table(config: pytest.Config, shown: Sequence[Measured], count: int) -> List[str]:
    from plimsoll._found import size

    if not shown:
        return []
    words = [lockfile.word_of(config, one) for one in shown]
    width = max(map(len, words))
    head = f"{'allocated':>10}  {'reserved':>10}"
    table = [head + ("  lock" if width else "")]
    for one, word in zip(shown, words):
        row = f"{size(one.allocated_peak_bytes):>10}  {size(one.reserved_peak_bytes):>10}"
        table.append(f"{row}  {word:<{width}}  {one.nodeid}" if width else f"{row}  {one.nodeid}")
    if count > len(shown):
        table.append(f"({count - len(shown)} more: -v shows them)")
    return table
