"""The objects of replay/1 and tune/1."""

from __future__ import annotations

from typing import Dict, List, Optional

from plimsoll.documents._judged import Judgement
from plimsoll.documents._part import Document, Frame, Part


class Scale(Part):
    """Requests that were multiplied."""

    what: str
    factor: float


class ReplayedDevice(Part):
    """What was recorded of a device that is replayed."""

    _page = "docs/formats/replay-json.md#device"
    device: int
    recorded_conf: str
    events: int
    requests: int
    start_allocations: int
    start_live_bytes: int
    start_reserved_bytes: int
    floor_bytes: int
    peak_event: Optional[int]
    recorded_peak_reserved_bytes: int
    capacity_bytes: Optional[int]
    capacity_source: str
    is_capacity_bound: bool
    oom_event: Optional[int]
    events_after_oom: int
    cache_releases: int
    is_torn: bool


class Agreement(Part):
    """A recording's requests under its own settings, beside what was recorded."""

    share: float
    segment_events_recorded: int
    segment_events_predicted: int
    segment_events_matched: int
    placements: int
    placements_matched: int
    reserved_bytes_max_difference: int
    reserved_bytes_mean_difference: float
    recorded_peak_reserved_bytes: int
    predicted_peak_reserved_bytes: int
    diverges_at_event: Optional[int]
    divergence: Optional[str]
    doubts: Dict[str, int]


class DeviceAgreement(Agreement):
    """The same of a device."""

    device: int


class Fidelity(Agreement):
    """How far to believe a replay."""

    _page = "docs/formats/replay-json.md#fidelity"
    devices: List[DeviceAgreement]


class ReplayFailure(Judgement):
    """The judgement on a request that failed in a replay."""

    figures: Dict[str, int]


class DeviceResult(Part):
    """What becomes of a device under some settings."""

    survives: Optional[bool]
    device: Optional[int]
    peak_reserved_bytes: Optional[int]
    peak_allocated_bytes: Optional[int]
    peak_requested_bytes: Optional[int]
    fragmentation: Optional[float]
    reserved_at_peak_bytes: Optional[int]
    allocated_at_peak_bytes: Optional[int]
    end_reserved_bytes: Optional[int]
    events: Optional[int]
    driver_calls: Dict[str, Optional[int]]
    driver_time_us: Optional[float]
    retries: Optional[int]
    ooms_survived: Optional[int]
    start_released_bytes: Optional[int]
    failed_event: Optional[int]
    failed_bytes: Optional[int]
    failed_reserved_bytes: Optional[int]
    failed_allocated_bytes: Optional[int]
    was_oom: Optional[bool]
    failed_request: Optional[ReplayFailure]
    failed_frame: Optional[Frame]


class Setting(Part):
    """A setting, and how far a replay under it went."""

    conf: str
    policy: str
    is_recorded: bool
    empty_cache: Optional[str]
    empty_cache_event: Optional[int]
    min_capacity_bytes: Optional[int]
    is_min_capacity_bound: bool
    failure: Optional[str]
    by_device: List[DeviceResult]


class Result(DeviceResult, Setting):
    """What becomes of a recording under some settings."""

    _page = "docs/formats/replay-json.md#result"


class TunedResult(Result):
    """The same of a setting that the search tried."""

    is_given: bool
    needs_torch: Optional[str]
    is_too_new: bool
    is_start_requested: bool


class Replayed(Document):
    """What replay and tune both say of a recording."""

    file: str
    capacity_bytes: Optional[int]
    capacity_source: str
    is_capacity_bound: bool
    floor_bytes: int
    scales: List[Scale]
    devices: List[ReplayedDevice]
    fidelity: Fidelity


class Replay(Replayed, Result):
    """A recording again, under other settings of the allocator.

    The members of a result are those of the first `conf`, or of the recorded settings.
    """

    _page = "docs/formats/replay-json.md#replay1-what-plimsoll-replay---json-prints"
    _tables = {"results": "results", "devices": "devices", "fidelity": "fidelity.devices"}
    results: List[Result]


class Tuning(Replayed):
    """Settings under which a recorded run needs the least memory."""

    _page = "docs/formats/tune-json.md#tune1-what-plimsoll-tune---json-prints"
    _tables = {"results": "results", "devices": "devices"}
    best: str
    best_index: int
    recorded_index: int
    baseline_index: int
    reference_index: int
    hardly_better_index: Optional[int]
    gain: float
    is_saved: bool
    is_hopeless: bool
    is_incomplete: bool
    runs: int
    results: List[TunedResult]

    @property
    def winner(self) -> TunedResult:
        """The result under `best`."""
        return self.results[self.best_index]

    @property
    def recorded(self) -> TunedResult:
        """The result under the recorded settings."""
        return self.results[self.recorded_index]

    @property
    def reference(self) -> TunedResult:
        """The result that savings are compared with."""
        return self.results[self.reference_index]
