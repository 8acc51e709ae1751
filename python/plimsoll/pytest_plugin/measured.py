"""What came of one test: plain values, which cross the processes of pytest-xdist."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

PROPERTY = "plimsoll"  # in report.user_properties


@dataclasses.dataclass
class Left:
    """An object that a test left on the device.

    text   "tensor `cache` of module models.kv (kv.py)"
    name   "cache"; "" where it has none
    kind   as in holders/1 (docs/formats/holders-json.md)
    module  the module or function that has it, or None
    file, line  of that; None: unknown
    made   "models/kv.py:12 in fill", which allocated most of it, or None
    """

    text: str
    bytes: int
    tensors: int
    device: int
    name: str = ""
    type: Optional[str] = None
    kind: str = ""
    module: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    made: Optional[str] = None


@dataclasses.dataclass
class PeakLine:
    """A group of allocations that were live at the peak, as docs/formats/lock.md has them.

    stack  of the user's frames, innermost first: "train.py:41 in forward"
    """

    bytes: int
    count: int
    stack: List[str]


@dataclasses.dataclass
class Measured:
    """
    outcome    "passed", "failed", "skipped": of the test, by the end of its call
    is_in_use  False: the process had not used CUDA by the end of the test; all figures are 0
    device     the one that the figures are of, where the test allocated most
    allocated_peak_bytes  the test's own: the highest above what was allocated before it
    reserved_peak_bytes   the highest of the process while it ran
    before_bytes          allocated before the test
    growth_bytes_per_step  None: it was not asked for, or the test took too few steps
    steps      that the growth is of, those of the warm-up left out
    left_bytes  allocated after the test's fixtures were finished, beyond what was there before it
    is_marked  the test has a mark of its own
    machine    all that the peak depends on but the test, where --plimsoll-lock holds it to one
    problem    a failure of ours, in a sentence
    """

    nodeid: str
    outcome: str = "passed"
    is_in_use: bool = False
    is_marked: bool = False
    device: int = 0
    allocated_peak_bytes: int = 0
    reserved_peak_bytes: int = 0
    before_bytes: int = 0
    growth_bytes_per_step: Optional[int] = None
    steps: int = 0
    left_bytes: int = 0
    left: List[Left] = dataclasses.field(default_factory=list)
    peak_lines: List[PeakLine] = dataclasses.field(default_factory=list)
    machine: Dict[str, Any] = dataclasses.field(default_factory=dict)
    problem: Optional[str] = None

    def as_property(self) -> Dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_report(cls, report: Any) -> Optional[Measured]:
        """Of a test's report; the last one, of its teardown, is the complete one."""
        for name, value in getattr(report, "user_properties", ()):
            if name == PROPERTY:
                words = dict(value)
                words["left"] = [Left(**one) for one in words["left"]]
                words["peak_lines"] = [PeakLine(**one) for one in words["peak_lines"]]
                return cls(**words)
        return None
