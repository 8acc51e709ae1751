"""The objects of diff/1 that a comparison of two environments has."""

from __future__ import annotations

from typing import Dict, List, Optional

from plimsoll.documents._judged import Categorised, MomentFigures
from plimsoll.documents._part import Frame, Part


class DiffFile(Part):
    """A recording that was compared."""

    file: str
    at: Optional[str]
    format: Optional[str]
    compression: Optional[str]
    generation: Optional[str]
    bytes: Optional[int]


class DiffSide(Part):
    """What a recording has of a device."""

    events: int
    events_without_stack: int
    truncated: bool
    truncated_because: Optional[str]
    late_start: bool
    ooms: int
    steps: int


class Change(Part):
    """A figure on both sides."""

    before_bytes: int
    after_bytes: int


class DiffMoment(MomentFigures):
    """The moment of a side."""

    grouped_bytes: Optional[int]
    grouped_count: Optional[int]
    by_category: Optional[Dict[str, Categorised]]


class CategoryChange(Change):
    """Requested bytes of a category on both sides."""

    category: str


class LineChange(Change):
    """A line of code on both sides."""

    _page = "docs/formats/diff-json.md#line"
    where: str
    was: Optional[str]
    kind: str
    change_bytes: int
    before_count: int
    after_count: int
    likely_bytes: int
    groups: int


class GroupSide(Part):
    """Of a group: its largest stack on a side."""

    bytes: int
    count: int
    user_frame: Optional[int]
    frames: List[Frame]


class GroupChange(Part):
    """Allocations that were matched, on both sides."""

    _page = "docs/formats/diff-json.md#group"
    match: str
    because: Optional[str]
    change_bytes: int
    category: Optional[str]
    package: Optional[str]
    before: Optional[GroupSide]
    after: Optional[GroupSide]


class MomentChange(Part):
    """A moment on both sides."""

    _page = "docs/formats/diff-json.md#moment"
    known: bool
    because: Optional[str]
    same: Optional[bool]
    change_bytes: Optional[int]
    before: Optional[DiffMoment]
    after: Optional[DiffMoment]
    categories: List[CategoryChange]
    has_stacks: Optional[bool]
    lines: List[LineChange]
    groups: List[GroupChange]


class DiffDevice(Part):
    """A device on both sides."""

    _page = "docs/formats/diff-json.md#device"
    device: int
    same: bool
    before: Optional[DiffSide]
    after: Optional[DiffSide]
    figures: Dict[str, Change]
    moments: Dict[str, MomentChange]
