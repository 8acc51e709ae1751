"""Types of the document fit/1."""

from __future__ import annotations

from typing import List, Optional

from plimsoll.documents._part import Document, Part
from plimsoll.documents._rehearse import Bar, Gpu


class FitUse(Part):
    """A technique of a stack."""

    technique: str
    label: str
    state: Optional[str]
    reason: Optional[str]


class FitTrial(Part):
    """A stack of techniques that was tried."""

    _page = "docs/formats/fit-json.md#trial"
    techniques: List[FitUse]
    conf: Optional[str]
    answer: str
    reason: Optional[str]
    label: str
    verdict: Optional[str]
    peak_allocated_bytes: Optional[int]
    peak_reserved_bytes: Optional[int]
    peak_device_bytes: Optional[int]
    peak_device: Optional[Bar]
    host_bytes: Optional[int]
    model_seconds: Optional[float]
    slowdown: Optional[float]
    is_confirmed: bool
    is_predicted: bool
    seconds: Optional[float]


class FitChange(Part):
    """A technique of the cheapest stack, written down."""

    technique: str
    pytorch: Optional[str]
    arguments: Optional[str]
    framework: Optional[str]
    diff: Optional[str]
    note: Optional[str]


class FitBatch(Part):
    """The largest batch of training or of evaluation, of `fit(find="batch")`."""

    _page = "docs/formats/fit-json.md#batch"
    why_unknown: Optional[str]
    stack: str
    now: Optional[int]
    largest: Optional[int]
    why_not_more: Optional[str]
    peak_device_bytes: Optional[int]
    rehearsals: int


class FitCard(Part):
    """A card of a size of memory, and what the program needs there: `fit(table=True)`."""

    _page = "docs/formats/fit-json.md#card"
    nominal_bytes: int
    gpu: str
    trial: Optional[int]
    device_bytes: int
    missing_bytes: int
    rows: Optional[int]
    rows_most: Optional[int]
    slowdown: Optional[float]
    step_seconds: Optional[float]


class Fit(Document):
    """The cheapest stack of techniques under which a program fits."""

    _page = "docs/formats/fit-json.md#fit1"
    _tables = {"trials": "trials", "changes": "changes"}
    fits: bool
    command: List[str]
    gpu: Gpu
    trials: List[FitTrial]
    plain: Optional[int]
    cheapest: Optional[int]
    roomy: Optional[int]
    smallest: Optional[int]
    missing_bytes: int
    enough_gpu: Optional[str]
    is_enough_rehearsed: bool
    changes: List[FitChange]
    diff: Optional[str]
    training_batch: Optional[FitBatch]
    evaluation_batch: Optional[FitBatch]
    cards: List[FitCard]
    stopped: Optional[str]

    @property
    def winner(self) -> Optional[FitTrial]:
        """The trial of the cheapest stack that fits."""
        return None if self.cheapest is None else self.trials[self.cheapest]
