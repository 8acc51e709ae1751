"""What is found of a test, in words."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from plimsoll._found import size
from plimsoll.pytest_plugin.limits import Bound, Growth
from plimsoll.pytest_plugin.measured import Left, Measured, PeakLine

SHOWN = 5
CALLERS = 2  # lines of a stack


def _on(device: int) -> str:
    return f" on GPU {device}" if device else ""


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def over_limit(limit: Bound, peak: int, counts: str, found: Measured) -> List[str]:
    """The test allocated more than its limit."""
    whose = "" if counts == "own" else ", with what was there before the test"
    lines = [f"GPU memory: {size(peak)} allocated at the peak{_on(found.device)}{whose}, "
             f"above the limit of {limit.text}"]
    if counts == "own" and found.before_bytes:
        lines.append(f"{size(found.before_bytes)} were allocated before the test and are not "
                     "counted.")
    return lines + peak_lines(found.peak_lines)


def peak_lines(groups: Sequence[PeakLine]) -> List[str]:
    """The lines at the peak, the largest first."""
    if not groups:
        return []
    lines = ["At the peak"]
    for one in groups[:SHOWN]:
        where = " ← ".join(one.stack[:CALLERS]) or "no stack was recorded"
        lines.append(f"{size(one.bytes):>10}  {where}, {_plural(one.count, 'allocation')}")
    if len(groups) > SHOWN:
        rest = sum(one.bytes for one in groups[SHOWN:])
        lines.append(f"{size(rest):>10}  {_plural(len(groups) - SHOWN, 'other line')}")
    return lines


def over_growth(growth: Growth, rise: float, steps: str, where: Optional[str],
                held: Sequence[Left]) -> List[str]:
    """Each step added more than it may.

    where  the line that allocated most of it, or None
    held   what the test allocated and something holds still
    """
    at = f", most of it allocated at {where}" if where else ""
    lines = [f"GPU memory grows by {size(round(rise))} a {growth.per}, over {steps}, above "
             f"{growth.text}{at}"]
    return lines + (["Allocated by the test and held by", *left_lines(held)] if held else [])


def over_left(left: Bound, found: Measured, runs: int) -> List[str]:
    """The test left more than it may."""
    times = f" in its {runs} runs" if runs > 1 else ""
    allowed = "" if left.bytes == 0 else f", above {left.text}"
    return [f"GPU memory: the test left {size(found.left_bytes)}{times}{allowed}",
            *left_lines(found.left)]


def left_lines(left: Sequence[Left]) -> List[str]:
    """Each object that holds what was left."""
    lines = []
    for one in left[:SHOWN]:
        made = f", allocated at {one.made}" if one.made else ""
        lines.append(f"{size(one.bytes):>10}  {one.text}, {_plural(one.tensors, 'tensor')}{made}")
    if len(left) > SHOWN:
        rest = sum(one.bytes for one in left[SHOWN:])
        lines.append(f"{size(rest):>10}  {_plural(len(left) - SHOWN, 'other object')}")
    return lines


def before_lines(found: Sequence[Tuple[str, int]], healthy: Optional[str]) -> List[str]:
    """What tests before this one left, and since when.

    found    [(test, bytes that it left)], the largest first
    healthy  the last test that began without such memory
    """
    if not found:
        return []
    lines = ["Tests before this one left memory that was still there"]
    lines += [f"{size(count):>10}  {nodeid}" for nodeid, count in found[:SHOWN]]
    if healthy:
        lines.append(f"The last test that began without it: {healthy}")
    return lines


def unguarded(count: int) -> str:
    return (f"{_plural(count, 'test')} with a gpu_memory mark ran unguarded: CUDA was not in use. "
            "Without a GPU: pytest --plimsoll-gpu=rtx4090")
