"""The objects of inspect/1."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from plimsoll.documents._judged import (Categorised, FileError, Group, Judgement, Moment, Sized)
from plimsoll.documents._part import Document, Error, Frame, Part


class ChosenMoment(Moment):
    """The moment of `at`."""

    step: Optional[int]


class NeverFreed(Part):
    """What was allocated in the recording and not freed in it."""

    bytes: int
    count: int
    by_stack: List[Group]
    before_recording_bytes: int
    before_recording_count: int


class FailedRequest(Judgement):
    """A request that found no memory."""

    _page = "docs/formats/inspect-json.md#out-of-memory-event"
    event: int
    time_us: Optional[int]
    requested_bytes: int
    device_free_bytes: Optional[int]
    figures: Dict[str, int]
    user_frame: Optional[int]
    frames: List[Frame]
    live_requested_bytes: int
    allocated_bytes: int
    active_bytes: int
    allocated_slack_bytes: int
    active_slack_bytes: int
    reserved_bytes: int
    live_count: int
    fragmentation: float
    grouped_bytes: Optional[int]
    grouped_count: Optional[int]
    by_category: Optional[Dict[str, Categorised]]
    by_stack: Optional[List[Group]]


class State(Part):
    """What segments and blocks of a file add up to."""

    requested_bytes: int
    allocated_bytes: int
    active_bytes: int
    reserved_bytes: int
    fragmentation: float
    pending_free_bytes: int
    inactive_split_bytes: int
    releasable_bytes: int
    largest_free_block_bytes: int
    segments: int
    blocks: int


class Pool(State):
    """The segments of one stream, pool and size class."""

    stream: int
    pool_id: List[int]
    size_class: str
    expandable: bool


class Start(Part):
    """Before the first event."""

    requested_bytes: int
    live_count: int
    reserved_bytes: int


class Run(Part):
    """Events in a row, and the extremes in them."""

    event_first: int
    allocated_bytes_max: int
    reserved_bytes_max: int


class InspectedDevice(Part):
    """A GPU, or -1: pinned host memory."""

    _page = "docs/formats/inspect-json.md#device"
    device: int
    events: int
    events_by_action: Dict[str, int]
    events_without_stack: int
    duration_us: Optional[int]
    truncated: bool
    truncated_because: Optional[str]
    late_start: bool
    start: Start
    end: State
    peak: Moment
    chosen: Optional[ChosenMoment]
    no_chosen_because: Optional[str]
    end_live: Moment
    never_freed: NeverFreed
    ooms: List[FailedRequest]
    pools: List[Pool]
    timeline: List[Run]


class InspectedFile(Part):
    """A recording, or why it could not be read."""

    _page = "docs/formats/inspect-json.md#file"
    file: str
    error: Optional[Error]
    format: str
    compression: Optional[str]
    generation: Optional[str]
    pickle_protocol: Optional[int]
    bytes: int
    settings: Dict[str, Any]
    anomalies: Dict[str, int]
    warnings: List[str]
    devices: List[InspectedDevice]
    host: Optional[InspectedDevice]


class InspectedRank(Part):
    """A device of a rank."""

    rank: int
    file: str
    device: int
    peak_requested_bytes: int
    peak_reserved_bytes: int
    ooms: int


class Spread(Sized):
    """How unlike the ranks are in a figure."""

    spread_bytes: int
    rank_of_max: int
    rank_of_min: int


class Skew(Part):
    """How unlike the ranks are."""

    peak_requested: Optional[Spread]
    peak_reserved: Optional[Spread]


class InspectedRanks(Part):
    """How the ranks compare."""

    _page = "docs/formats/inspect-json.md#ranks"
    rows: List[InspectedRank]
    skew: Skew


class Inspection(Document):
    """Where memory went, by recordings."""

    _page = "docs/formats/inspect-json.md#document"
    _tables = {"peak": "files.devices.peak.by_stack", "devices": "files.devices",
               "ooms": "files.devices.ooms", "pools": "files.devices.pools",
               "timeline": "files.devices.timeline",
               "never_freed": "files.devices.never_freed.by_stack",
               "chosen": "files.devices.chosen.by_stack", "files": "files", "ranks": "ranks.rows"}
    files: List[InspectedFile]
    ranks: Optional[InspectedRanks]
    at: Optional[str]
    stack_pattern: Optional[str]

    @property
    def devices(self) -> List[InspectedDevice]:
        """Of all files, idle ones too; without pinned host memory."""
        return [device for one in self.files for device in one.devices]

    @property
    def errors(self) -> List[FileError]:
        """The files that could not be read."""
        return [FileError(one.to_dict()) for one in self.files if one.error is not None]
