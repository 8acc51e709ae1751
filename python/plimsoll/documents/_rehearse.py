"""The objects of rehearse/1, in its four shapes."""

from __future__ import annotations

from typing import Dict, List, Optional

from plimsoll.documents._diff import DiffDevice, DiffFile
from plimsoll.documents._judged import Judgement
from plimsoll.documents._part import Document, Part


class Reason(Part):
    """Why a rehearsal failed."""

    _page = "docs/formats/rehearse-json.md#reason"
    word: str
    text: Optional[str]


class Gpu(Part):
    """What a program ran on."""

    _page = "docs/formats/rehearse-json.md#gpu"
    key: str
    name: str
    capacity_bytes: int
    count: int


class Bar(Part):
    """A figure, and between which bounds it is expected on a real GPU."""

    _page = "docs/formats/rehearse-json.md#bar"
    low_bytes: int
    expected_bytes: int
    high_bytes: int


class DriverDevice(Part):
    """What the driver saw of a device."""

    _page = "docs/formats/rehearse-json.md#device"
    device: int
    peak: Bar
    peak_bytes: int
    program_bytes: int
    context_bytes: int
    libraries_bytes: int
    driver_reserved_bytes: int
    nvml_v1_peak_bytes: int
    waits: int
    waiting_bytes: int


class Category(Part):
    """Bytes of a category at a peak."""

    category: str
    bytes: int


class Need(Part):
    """What a program that ran out of memory would need."""

    _page = "docs/formats/rehearse-json.md#need"
    bound: str
    why: Optional[str]
    allocated_bytes: int
    reserved_bytes: int
    device_bytes: int
    device: Bar
    step: int
    phase: Optional[str]
    steps: int
    has_all: bool
    has_backward: bool
    has_optimizer: bool
    asks_for_free: bool
    growth_bytes: int
    categories: List[Category]


class Peaks(Part):
    """The highest figures of any device."""

    peak_allocated_bytes: int
    peak_reserved_bytes: int
    peak_device_bytes: int


class Tried(Peaks):
    """A setting that is advised, rehearsed."""

    _page = "docs/formats/rehearse-json.md#tried"
    settings: str
    verdict: str
    steps: int
    has_all: bool


class Late(Peaks):
    """A second run with work that ends late."""

    _page = "docs/formats/rehearse-json.md#late"
    why_unknown: Optional[str]
    ran_out: bool


class Phase(Part):
    """A phase, over all steps."""

    phase: str
    peak_allocated_bytes: int
    peak_reserved_bytes: int


class Step(Part):
    """A step of a program."""

    step: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    end_allocated_bytes: int


class ProcessDevice(Part):
    """PyTorch's statistics of a device."""

    _page = "docs/formats/rehearse-json.md#device-of-a-process"
    device: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    peak_active_bytes: int
    peak_requested_bytes: int
    peak_step: int
    peak_phase: Optional[str]
    allocated_bytes: int
    reserved_bytes: int
    alloc_retries: int
    ooms: int
    phases: List[Phase]
    steps: List[Step]


class OutOfMemory(Judgement):
    """A request that failed, as the program saw it."""

    _page = "docs/formats/rehearse-json.md#out-of-memory-error"
    device: int
    step: int
    phase: Optional[str]
    requested_bytes: int
    device_total_bytes: int
    device_free_bytes: int
    figures: Dict[str, int]
    text: Optional[str]
    stack: List[str]


class OomPlace(Part):
    """A line of the user's own code, and how often memory ran out there."""

    where: str
    count: int


class ValueRead(Part):
    """A line where the host read what a device would have computed."""

    _page = "docs/formats/rehearse-json.md#value-read"
    where: str
    what: Optional[str]
    count: int
    stack: List[str]
    why: Optional[str]


class Fact(Part):
    """What decides how much memory a program needs, or a technique that it uses."""

    _page = "docs/formats/rehearse-json.md#fact"
    kind: str
    name: str
    value: str
    effect: Optional[str]
    evidence: Optional[str]


class SwitchPlace(Part):
    """A line of the program that a technique changes."""

    what: str
    file: str
    line: int


class Switched(Part):
    """A technique that was switched on from outside."""

    _page = "docs/formats/rehearse-json.md#technique"
    name: str
    value: str
    state: str
    text: Optional[str]
    label: Optional[str]
    label_text: Optional[str]
    places: List[SwitchPlace]


class Process(Part):
    """A process that imported PyTorch."""

    _page = "docs/formats/rehearse-json.md#process"
    pid: int
    rank: int
    world_size: int
    torch: Optional[str]
    conf: str
    ended: str
    stop_reason: Optional[str]
    stop_text: Optional[str]
    exception: Optional[str]
    steps: int
    import_seconds: float
    total_seconds: float
    devices: List[ProcessDevice]
    ooms: List[OutOfMemory]
    oom_count: int
    oom_places: List[OomPlace]
    value_reads: List[ValueRead]
    facts: List[Fact]
    with_: List[Switched]
    warnings: List[str]


class Call(Part):
    """A vendor's function that was called."""

    _page = "docs/formats/rehearse-json.md#call"
    function: str
    kind: str
    count: int
    note: Optional[str]


class Rehearsal(Document, Peaks):
    """A program without a GPU, on one that was named."""

    _page = "docs/formats/rehearse-json.md#one-rehearsal"
    _tables = {"devices": "processes.devices", "steps": "processes.devices.steps",
               "phases": "processes.devices.phases", "ooms": "processes.ooms",
               "processes": "processes", "facts": "processes.facts",
               "value_reads": "processes.value_reads", "driver": "devices", "calls": "calls",
               "tried": "tried"}
    verdict: str
    reason: Optional[Reason]
    bound: str
    command: List[str]
    exit_status: int
    gpu: Gpu
    peak_device: Bar
    oom_verdict: Optional[str]
    need: Optional[Need]
    tried: List[Tried]
    late: Optional[Late]
    devices: List[DriverDevice]
    processes: List[Process]
    with_: List[Switched]
    unanswered: int
    calls: List[Call]
    recordings: List[str]
    warnings: List[str]

    @property
    def fits(self) -> bool:
        """The verdict is "fits"."""
        return self.verdict == "fits"


class Try(Peaks):
    """A rehearsal of a search."""

    value: int
    verdict: str
    seconds: float


class BatchSearch(Document):
    """A program rehearsed with one value after the other."""

    _page = "docs/formats/rehearse-json.md#a-search"
    _tables = {"tries": "tries"}
    gpu: Gpu
    best: Optional[int]
    complete: bool
    tries: List[Try]


class Limit(Part):
    """Growth counts beyond both."""

    share: float
    bytes: int


class Side(Peaks):
    """A rehearsal in one of two environments."""

    _page = "docs/formats/rehearse-json.md#side"
    name: str
    python: Optional[str]
    verdict: str
    reason: Optional[Reason]
    bound: str
    need: Optional[Need]
    compared_bytes: int
    peak_device: Bar


class PackageChange(Part):
    """A package that differs."""

    name: str
    before: Optional[str]
    after: Optional[str]


class ComparedRank(Part):
    """A rank that left a history in both environments."""

    rank: int
    before: Optional[DiffFile]
    after: Optional[DiffFile]
    devices: List[DiffDevice]


class Comparison(Document):
    """A program in two environments."""

    _page = "docs/formats/rehearse-json.md#two-environments"
    _tables = {"packages": "packages", "figures": "ranks.devices"}
    command: List[str]
    gpu: Gpu
    comparison: str
    limit: Limit
    before: Side
    after: Side
    packages: List[PackageChange]
    ranks: List[ComparedRank]


class Release(Peaks):
    """A release of a package, rehearsed or not."""

    release: str
    state: str
    why: Optional[str]
    verdict: Optional[str]
    compared_bytes: int
    seconds: float


class ReleaseSearch(Comparison):
    """The release of a package with which the peak of memory grew."""

    _page = "docs/formats/rehearse-json.md#a-search-for-a-release"
    _tables = {"releases": "releases", "packages": "packages"}
    package: str
    complete: bool
    last_good: Optional[str]
    first_grown: Optional[str]
    releases: List[Release]
