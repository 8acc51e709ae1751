"""Objects that several documents have: a judgement, and a device diagnosed or failed."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from plimsoll.documents._part import Error, Frame, Part


class Judgement(Part):
    """Why memory ran out.

    figures  in bytes, under the names of explain/1
    """

    verdict: str
    alternatives: List[str]
    confidence: float
    certainty: str
    why: str


class FileError(Part):
    """A file that could not be read."""

    file: str
    error: Error


class Categorised(Part):
    """Requested bytes and allocations of a category."""

    bytes: int
    count: int


class Group(Part):
    """Live allocations that share a stack."""

    _page = "docs/formats/inspect-json.md#group"
    bytes: int
    count: int
    user_frame: Optional[int]
    before_recording_bytes: int
    before_recording_count: int
    stack_of_free_count: int
    first_born_event: Optional[int]
    last_born_event: Optional[int]
    frames: List[Frame]

    @property
    def frame(self) -> Optional[Frame]:
        """The innermost frame of the user's own code."""
        return None if self.user_frame is None else self.frames[self.user_frame]


class MomentFigures(Part):
    """The figures of a moment, after an event."""

    event: int
    time_us: Optional[int]
    requested_bytes: int
    allocated_bytes: int
    active_bytes: int
    reserved_bytes: int
    allocated_slack_bytes: int
    active_slack_bytes: int
    live_count: int
    fragmentation: float


class Moment(MomentFigures):
    """What was live after an event."""

    _page = "docs/formats/inspect-json.md#moment"
    grouped_bytes: int
    grouped_count: int
    by_category: Optional[Dict[str, Categorised]]
    by_stack: List[Group]


class Sized(Part):
    """Of several ranks or devices: how unlike they are."""

    max_bytes: int
    min_bytes: int
    mean_bytes: float
    max_over_mean: float


Figures = Dict[str, Any]  # name → bytes, a count, a share, a word or a frame
