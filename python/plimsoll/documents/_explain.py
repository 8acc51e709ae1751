"""The objects of explain/1."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from plimsoll.documents._judged import FileError, Judgement
from plimsoll.documents._part import Document, Error, Part


class Fix(Part):
    """What helps."""

    _page = "docs/formats/explain-json.md#advice"
    id: str
    text: str
    command: Optional[str]
    source: Optional[str]


class MessageProcess(Part):
    """A process that a message names."""

    pid: int
    bytes: Optional[int]
    is_this: bool


class Message(Judgement):
    """A message about memory in a text."""

    _page = "docs/formats/explain-json.md#message"
    file: str
    line: int
    offset: int
    length: int
    count: int
    framework: str
    form: str
    program: str
    versions: Optional[str]
    excerpt: str
    follower: bool
    device: Optional[int]
    requested_bytes: Optional[int]
    total_bytes: Optional[int]
    free_bytes: Optional[int]
    allocated_bytes: Optional[int]
    reserved_bytes: Optional[int]
    reserved_unallocated_bytes: Optional[int]
    process_bytes: Optional[int]
    other_processes_bytes: Optional[int]
    limit_bytes: Optional[int]
    private_pools_bytes: Optional[int]
    other_allocations_bytes: Optional[int]
    requested_from_shape_bytes: Optional[int]
    shared_required_bytes: Optional[int]
    shared_limit_bytes: Optional[int]
    active_bytes: Optional[int]
    allocated_peak_bytes: Optional[int]
    reserved_peak_bytes: Optional[int]
    inactive_split_bytes: Optional[int]
    host_process_bytes: Optional[int]
    host_virtual_bytes: Optional[int]
    host_used_bytes: Optional[int]
    host_total_bytes: Optional[int]
    host_available_bytes: Optional[int]
    host_limit_bytes: Optional[int]
    slack_bytes: Dict[str, int]
    places: Dict[str, List[int]]
    processes: List[MessageProcess]
    advice: List[Fix]


class Series(Part):
    """A figure of memory that a text prints again and again."""

    _page = "docs/formats/explain-json.md#series"
    file: str
    name: str
    unit: str
    step_name: Optional[str]
    points: int
    seen: int
    first_line: int
    last_line: int
    class_: str
    confidence: float
    growth_bytes_per_step: Optional[float]
    growth_low_bytes_per_step: Optional[float]
    growth_high_bytes_per_step: Optional[float]
    first_step: float
    last_step: float
    first_bytes: Optional[int]
    last_bytes: Optional[int]
    min_bytes: Optional[int]
    max_bytes: Optional[int]
    noise_share: float
    onset_step: float
    stair_count: int
    stair_bytes: Optional[int]
    stair_period_steps: float
    host: bool
    capacity_bytes: Optional[int]
    exhaustion_step: Optional[float]
    growth_percent_per_step: Optional[float]
    growth_low_percent_per_step: Optional[float]
    growth_high_percent_per_step: Optional[float]
    first_percent: Optional[float]
    last_percent: Optional[float]
    min_percent: Optional[float]
    max_percent: Optional[float]
    stair_percent: Optional[float]
    advice: List[Fix]
    others: List[Series]


class Text(Part):
    """A text that was read, or could not be."""

    _page = "docs/formats/explain-json.md#text"
    file: str
    error: Optional[Error]
    bytes: int
    lines: int
    messages: int
    main: Optional[int]
    unkept: int


class Explanation(Document):
    """Why memory ran out, by what programs printed."""

    _page = "docs/formats/explain-json.md#document"
    _tables = {"messages": "messages", "series": "series", "files": "files"}
    bytes: int
    lines: int
    main: Optional[int]
    unkept: int
    messages: List[Message]
    series: Optional[Series]
    files: List[Text]

    @property
    def message(self) -> Optional[Message]:
        """The one that answers for all; None: no failure of memory was found."""
        return None if self.main is None else self.messages[self.main]

    @property
    def verdict(self) -> Optional[str]:
        """Of `message`."""
        return None if self.message is None else self.message.verdict

    @property
    def why(self) -> Optional[str]:
        """Of `message`."""
        return None if self.message is None else self.message.why

    @property
    def advice(self) -> List[Fix]:
        """Of `message`, else of a leak in `series`."""
        if self.message is not None:
            return self.message.advice
        return [] if self.series is None else self.series.advice

    @property
    def errors(self) -> List[FileError]:
        """The files that could not be read."""
        return [FileError(one.to_dict()) for one in self.files if one.error is not None]
