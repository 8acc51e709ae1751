"""The types of what explain(), inspect(), diagnose(), replay(), tune() and rehearse() return.

What each member means stands in docs/formats; the class of each object names its section.
"""

from plimsoll.documents._diagnose import (
    Advice, CategorySum, ComposedMoment, Composition, DiagnosedDevice, DiagnosedRank,
    DiagnosedRanks, Diagnosis, Evidence, Finding, FoundHolder, Fragmentation, Holes, Loss, Member,
    PeakPlace, Pin, Place, Steps, Subject)
from plimsoll.documents._diff import (
    CategoryChange, Change, DiffDevice, DiffFile, DiffMoment, DiffSide, GroupChange, GroupSide,
    LineChange, MomentChange)
from plimsoll.documents._explain import Explanation, Fix, Message, MessageProcess, Series, Text
from plimsoll.documents._fit import Fit, FitChange, FitTrial, FitUse
from plimsoll.documents._inspect import (
    ChosenMoment, FailedRequest, InspectedDevice, InspectedFile, InspectedRank, InspectedRanks,
    Inspection, NeverFreed, Pool, Run, Skew, Spread, Start, State)
from plimsoll.documents._judged import (
    Categorised, FileError, Group, Judgement, Moment, Sized)
from plimsoll.documents._part import Document, Error, Frame, Item, Part
from plimsoll.documents._rehearse import (
    Bar, BatchSearch, Call, Category, ComparedRank, Comparison, DriverDevice, Fact, Gpu, Late,
    Limit, Need, OomPlace, OutOfMemory, PackageChange, Peaks, Phase, Process, ProcessDevice, Reason,
    Rehearsal, Release, ReleaseSearch, Side, Step, Switched, SwitchPlace, Tried, Try, ValueRead)
from plimsoll.documents._replay import (
    Agreement, DeviceAgreement, DeviceResult, Fidelity, Replay, Replayed, ReplayedDevice,
    ReplayFailure, Result, Scale, Setting, TunedResult, Tuning)

__all__ = [
    "Advice", "Agreement", "Bar", "BatchSearch", "Call", "Categorised", "Category",
    "CategoryChange", "CategorySum", "Change", "ChosenMoment", "ComparedRank", "Comparison",
    "ComposedMoment", "Composition", "DeviceAgreement", "DeviceResult", "DiagnosedDevice",
    "DiagnosedRank", "DiagnosedRanks", "Diagnosis", "DiffDevice", "DiffFile", "DiffMoment",
    "DiffSide", "Document", "DriverDevice", "Error", "Evidence", "Explanation", "Fact",
    "FailedRequest", "Fidelity", "FileError", "Finding", "Fit", "FitChange", "FitTrial",
    "FitUse", "Fix", "FoundHolder", "Fragmentation",
    "Frame", "Gpu", "Group", "GroupChange", "GroupSide", "Holes", "InspectedDevice",
    "InspectedFile", "InspectedRank", "InspectedRanks", "Inspection", "Item", "Judgement", "Late",
    "Limit", "LineChange", "Loss", "Member", "Message", "MessageProcess", "Moment", "MomentChange",
    "Need", "NeverFreed", "OomPlace", "OutOfMemory", "PackageChange", "Part", "PeakPlace", "Peaks",
    "Phase", "Pin", "Place", "Pool", "Process", "ProcessDevice", "Reason", "Rehearsal", "Release",
    "ReleaseSearch", "Replay", "ReplayFailure", "Replayed", "ReplayedDevice", "Result", "Run",
    "Scale", "Series", "Setting", "Side", "Sized", "Skew", "Spread", "Start", "State", "Step",
    "Steps", "Subject", "SwitchPlace", "Switched", "Text", "Tried", "Try", "TunedResult", "Tuning", "ValueRead",
]
