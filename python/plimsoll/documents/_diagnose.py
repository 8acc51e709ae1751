"""The objects of diagnose/1."""

from __future__ import annotations

from typing import Dict, List, Optional

from plimsoll.documents._judged import Figures, FileError, Sized
from plimsoll.documents._part import Document, Frame, Part


class Place(Part):
    """A line of code."""

    _page = "docs/formats/diagnose-json.md#place"
    stack: List[Frame]
    frame: Optional[Frame]


class Steps(Part):
    """From where to where a finding is seen."""

    first: Optional[int]
    last: Optional[int]


class Subject(Part):
    """What a finding is about."""

    kind: str
    device: int
    event: Optional[int]
    first: Optional[int]
    last: Optional[int]
    pool_id: List[int]
    stream: Optional[int]


class FoundHolder(Part):
    """An object that keeps blocks of a finding."""

    kind: str
    text: str
    name: Optional[str]
    type: Optional[str]
    file: Optional[str]
    line: Optional[int]
    function: Optional[str]
    blocks: int
    bytes: int
    of_blocks: int
    of_bytes: int


class Member(Part):
    """Allocations of one stack, of those that a finding groups."""

    bytes: int
    count: int
    frame: Optional[Frame]


class Evidence(Part):
    """A sentence, and the figures in it."""

    id: str
    text: str
    figures: Figures


class Advice(Part):
    """What helps, and how much."""

    _page = "docs/formats/diagnose-json.md#advice"
    finding: Optional[str]
    technique: str
    text: str
    saves_bytes: Optional[int]
    basis: str
    cost: Optional[str]
    change: Optional[str]


class Finding(Part):
    """Something that was found, with what it rests on."""

    _page = "docs/formats/diagnose-json.md#finding"
    id: str
    kind: str
    cause: str
    cause_text: str
    decides: bool
    severity: str
    confidence: float
    certainty: str
    bytes: int
    growth_bytes_per_step: Optional[float]
    growth_low_bytes_per_step: Optional[float]
    growth_high_bytes_per_step: Optional[float]
    period_steps: Optional[float]
    steps: Steps
    full_at_step: Optional[float]
    subject: Subject
    figures: Dict[str, int]
    root: Optional[Place]
    keeper: Optional[Place]
    keeper_confidence: float
    holders: List[FoundHolder]
    members: List[Member]
    evidence: List[Evidence]

    @property
    def advice(self) -> List[Advice]:
        """What answers this finding, of its device's advice; the best first."""
        device = self._parent
        every = device.advice if isinstance(device, DiagnosedDevice) else []
        return [one for one in every if one.finding == self.id]


class CategorySum(Part):
    """Of a moment: bytes of a category, and what decided for most of it."""

    category: str
    bytes: int
    count: int
    rule: Optional[str]


class ComposedMoment(Part):
    """What memory was made of after an event."""

    event: Optional[int]
    step: Optional[int]
    requested_bytes: int
    unknown_bytes: int
    categories: List[CategorySum]


class Composition(Part):
    """What memory was made of."""

    _page = "docs/formats/diagnose-json.md#composition"
    peak: Dict[str, int]
    peak_moment: ComposedMoment
    failures: List[ComposedMoment]
    steps: List[ComposedMoment]


class PeakPlace(Part):
    """Where the peak is."""

    _page = "docs/formats/diagnose-json.md#place-of-the-peak"
    step: Optional[int]
    pass_: Optional[str]
    position: float
    next_peak_bytes: Optional[int]
    next_peak_event: Optional[int]


class Loss(Part):
    """Bytes that were reserved and not live, by cause."""

    split_bytes: int
    rounding_bytes: int
    other_stream_bytes: int
    private_pool_bytes: int
    oversize_bytes: int
    page_bytes: int
    free_segment_bytes: int
    pending_bytes: int


class Holes(Part):
    """Free blocks from a size to twice that."""

    from_bytes: int
    bytes: int
    count: int


class Pin(Part):
    """Blocks that live long in the wrong place."""

    bytes: int
    blocked_bytes: int
    count: int
    born_event: Optional[int]
    frame: Optional[Frame]


class Fragmentation(Part):
    """Where reserved memory was lost, at a moment."""

    _page = "docs/formats/diagnose-json.md#fragmentation"
    event: Optional[int]
    is_oom: bool
    reserved_bytes: int
    allocated_bytes: int
    request_bytes: Optional[int]
    largest_hole_bytes: int
    loss: Loss
    holes: List[Holes]
    pins: List[Pin]


class DiagnosedDevice(Part):
    """A GPU of a recording, or -1: pinned host memory."""

    _page = "docs/formats/diagnose-json.md#device"
    file: str
    rank: Optional[int]
    device: int
    verdict: str
    confidence: float
    capacity_bytes: Optional[int]
    capacity_source: Optional[str]
    steps: int
    steps_source: str
    has_events: bool
    has_stacks: bool
    truncated: bool
    late_start: bool
    peak_requested_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    ooms: int
    findings: List[Finding]
    composition: Composition
    peak_place: PeakPlace
    fragmentation: List[Fragmentation]
    advice: List[Advice]


class DiagnosedRank(Part):
    """A GPU of a rank."""

    rank: int
    device: int
    verdict: str
    cause: str
    peak_requested_bytes: int
    peak_reserved_bytes: int
    ooms: int


class DiagnosedRanks(Part):
    """How the ranks compare."""

    _page = "docs/formats/diagnose-json.md#ranks"
    count: int
    worst: Optional[int]
    worst_device: Optional[int]
    worst_cause: Optional[str]
    skew: Optional[Sized]
    rows: List[DiagnosedRank]


class Diagnosis(Document):
    """What happened to memory, from which evidence, and what helps."""

    _page = "docs/formats/diagnose-json.md#document"
    _tables = {"findings": "devices.findings", "devices": "devices", "advice": "devices.advice",
               "steps": "devices.composition.steps", "fragmentation": "devices.fragmentation",
               "ranks": "ranks.rows", "errors": "errors"}
    verdict: str
    confidence: float
    devices: List[DiagnosedDevice]
    ranks: Optional[DiagnosedRanks]
    errors: List[FileError]

    @property
    def findings(self) -> List[Finding]:
        """Of all devices, those with the verdict of the whole first."""
        return [finding for device in self._worst_first() for finding in device.findings]

    @property
    def advice(self) -> List[Advice]:
        """Of all devices, in the same order."""
        return [advice for device in self._worst_first() for advice in device.advice]

    def _worst_first(self) -> List[DiagnosedDevice]:
        return sorted(self.devices, key=lambda one: one.verdict != self.verdict)
