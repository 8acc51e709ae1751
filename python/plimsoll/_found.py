"""Which objects hold the GPU's memory, as the agent's search found them."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List

from plimsoll import _agent, _memory, _session

_NOTE = re.compile(r", in the traceback of the last exception \(sys\.\w+\)")
SHOWN = 20  # of plimsoll.holders()
SECONDS = 2.0


class Holdings:
    """What a search found. Shows itself as a table.

    document   holders/1 (docs/formats/holders-json.md)
    """

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document

    def __repr__(self) -> str:
        return "\n".join(self.lines(SHOWN))

    def lines(self, shown: int) -> List[str]:
        """The largest holders, one a line."""
        devices = self.document["devices"]
        lines = []
        for device in devices:
            index, live = device["device"], device["live_bytes"]
            lines.append(f"GPU {index}: {size(live)} allocated" + (", held by" if live else ""))
            lines += self._of_device(device, shown, len(devices) > 1)
        if not devices:
            lines.append("CUDA is not in use: no GPU memory is held.")
        if not self.document["is_complete"]:
            lines.append(f"The search is incomplete: {self.document['why_incomplete']}.")
        return lines

    def _of_device(self, device: Dict[str, Any], shown: int, is_one_of_several: bool) -> List[str]:
        found = [one for one in self.document["holders"]
                 if not is_one_of_several or one["device"] == device["device"]]
        lines = [f"{size(one['bytes']):>10}  {subject(one)}" for one in found[:shown]]
        if len(found) > shown:
            rest = sum(one["bytes"] for one in found[shown:])
            count = len(found) - shown
            lines.append(f"{size(rest):>10}  {count} {'others' if count > 1 else 'other'}")
        known = sum(device[name] or 0 for name in ("held_bytes", "graph_bytes", "engine_bytes"))
        if device["live_bytes"] > known:
            lines.append(f"{size(device['live_bytes'] - known):>10}  has no known holder")
        return lines


def size(count: int) -> str:
    """ "1.50 GiB" """
    _agent.load()
    from plimsoll_agent.amounts import size_text

    return str(size_text(count))


def subject(holder: Dict[str, Any]) -> str:
    """ "list `losses` in train (In[2], line 9), in the last traceback, 812 tensors" """
    text = _NOTE.sub(", in the last traceback", holder["text"])
    file, line, count = holder["file"], holder["line"], holder["tensors"]
    cell = _session.cell_of(file) if file else None
    if cell is not None:
        text = text.replace(f"({os.path.basename(file)}:{line})", f"(In[{cell}], line {line})")
    if count == 0:  # the device's own, which no tensor has
        return str(text)
    return f"{text}, {count} {'tensor' if count == 1 else 'tensors'}"


def find(seconds: float) -> Holdings:
    """See plimsoll.holders()."""
    torch = _memory.torch_in_use()
    if torch is None:
        return Holdings(_nothing())
    _agent.load()
    from plimsoll_agent import holders

    return Holdings(holders.find(torch, seconds, moment="dump"))


def _nothing() -> Dict[str, Any]:
    """The document of a process that does not use CUDA."""
    return {"schema": "holders/1", "devices": [], "holders": [], "garbage": None,
            "is_complete": True, "why_incomplete": None, "warnings": []}
