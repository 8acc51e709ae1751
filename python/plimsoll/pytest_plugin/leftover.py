"""The objects that keep what a test left on the device."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from plimsoll import _found
from plimsoll.pytest_plugin.gauge import Gauge, short
from plimsoll.pytest_plugin.measured import Left

SECONDS = 2.0  # of a search
FIXTURE = "fixture "  # the first word of a way that begins at a fixture's value


class Blocks:
    """Those that a test allocated and that are live, by device and address.

    Of PyTorch's history: an address that was free for a while is a new block.
    """

    def __init__(self, snapshot: Dict[str, Any]) -> None:
        made: Set[Tuple[int, Any]] = {
            (device, event.get("addr"))
            for device, trace in enumerate(snapshot["device_traces"]) for event in trace
            if event["action"] == "alloc"}
        self.of: Dict[Tuple[int, int], Dict[str, Any]] = {}
        for segment in snapshot["segments"]:
            address = segment["address"]
            for block in segment["blocks"]:
                key = (segment["device"], address)
                if block["state"] == "active_allocated" and key in made:
                    self.of[key] = block
                address += block["size"]


class Found(NamedTuple):
    """
    left  what holds what the test allocated, the largest first; values of wider fixtures are not
          among them: the fixture's end gives back what they hold
    held  by those, {"fixture NAME": bytes}
    """

    left: List[Left]
    held: Dict[str, int]


def find(gauge: Gauge, fixtures: Sequence[Tuple[str, Any]], instance: Any,
         root: str) -> Optional[Found]:
    """What holds now what the test allocated.

    fixtures  [("fixture NAME", value)] of wider scope
    instance  of the test's class, which pytest keeps to the end of the session; or None
    root      files in this folder are named by their path in it
    returns   None: nothing was recorded of it, so nothing can be said
    """
    from plimsoll_agent import holders

    snapshot = gauge.snapshot()
    blocks = Blocks(snapshot) if snapshot is not None else None
    if blocks is None or not blocks.of:
        return None
    roots = [*fixtures, *([("self", instance)] if instance is not None else [])]
    document = holders.find(gauge.torch, SECONDS, moment="dump", extra_roots=roots)
    found = Found([], {})
    for holder in document["holders"]:
        its = [blocks.of.pop((holder["device"], address))
               for address, _, _ in holder["blocks"] if (holder["device"], address) in blocks.of]
        begin = holder["path"][0] if holder["path"] else ""
        if begin.startswith(FIXTURE):
            size = sum(one["size"] for one in its)
            found.held[begin] = found.held.get(begin, 0) + size
        elif its:
            found.left.append(_left(holder, its, gauge.made(its, root), root))
    found.left.extend(_without_holder(blocks))
    found.left.sort(key=lambda one: -one.bytes)
    return found


def _left(holder: Dict[str, Any], its: List[Dict[str, Any]], made: Optional[str],
          root: str) -> Left:
    return Left(
        text=_found.subject({**holder, "tensors": 0}),
        bytes=sum(one["size"] for one in its), tensors=len(its),
        device=holder["device"], name=holder["name"] or "", type=holder["type"],
        kind=holder["kind"], module=holder["function"],
        file=short(holder["file"], root) if holder["file"] else None, line=holder["line"],
        made=made)


def _without_holder(blocks: Blocks) -> List[Left]:
    """What no search found: one for each device."""
    devices: Dict[int, List[int]] = {}
    for (device, _), block in blocks.of.items():
        devices.setdefault(device, []).append(block["size"])
    return [Left(text="code in C, or objects that the search did not reach", bytes=sum(sizes),
                 tensors=len(sizes), device=device, kind="unknown")
            for device, sizes in devices.items()]
