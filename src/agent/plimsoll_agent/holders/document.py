"""Holders in words: the document holders/1 (docs/formats/holders-json.md)."""

import heapq
import os

from plimsoll_agent.holders import kinds

BLOCKS_MAX = 10_000
HOLDERS_MAX = 1000
WAY_MAX = 24     # edges of a way that are shown
NAME_MAX = 160
MADE_MAX = 200   # blocks whose line is looked up
AT_MOST = "at most: no other holder is known"
_CHECKED = 64
_PARTS = {"parameters": "parameters", "buffers": "buffers", "gradients": "gradients",
          "optimizer_states": "states"}


class Writer:
    """Of one search."""

    def __init__(self, walk, edges, places, clock, excluded=()):
        self._excluded = excluded  # holders that hold what is left by exclusion
        self._walk = walk
        self._edges = edges
        self._places = places
        self._clock = clock
        self._made_left = MADE_MAX

    def holders(self, found):
        """Of [Holder], the largest first."""
        ids = {holder.key: index for index, holder in enumerate(found)}
        blocks = self._blocks(found)
        return [self._holder(index, holder, ids, blocks[index])
                for index, holder in enumerate(found)]

    def _holder(self, index, holder, ids, blocks):
        path, name = self._way(holder)
        root = holder.root
        kind = self._type_of(holder)
        made = self._made(holder)
        return {
            "id": index,
            "kind": holder.kind,
            "text": self._text(holder, name, kind, path),
            "name": name or None,
            "type": kind,
            "path": path,
            "file": root.file if root is not None else None,
            "line": root.line if root is not None else None,
            "function": root.function if root is not None else None,
            "made_file": made[0],
            "made_line": made[1],
            "made_function": made[2],
            "tensors": len(holder.claims),
            "bytes": holder.bytes,
            "device": holder.device,
            "also": sorted(ids[key] for key in holder.others if key in ids),
            "blocks": blocks,
        }

    def _thing(self, holder):
        if holder.anchor.thing is not None:
            return holder.anchor.thing
        return self._walk.objects[holder.anchor.node]

    def _type_of(self, holder):
        thing = self._thing(holder)
        return None if thing is None else kinds.name_of(type(thing))[:NAME_MAX]

    # --- the way

    def _labels(self, above, node, thing):
        """Of the edges from one node down to another, and on to a thing; [] where it is long."""
        way = []
        while node != above and node >= 0 and len(way) < 64:
            way.append(node)
            node = self._walk.parents[node]
        labels, objects = [], self._walk.objects
        for one in reversed(way):
            if one in self._walk.names:
                labels.append(self._walk.names[one])
            elif node >= 0 and objects[node] is not None:
                labels.append(self._edges.label(node, objects[one]))
            node = one
        if thing is not None and node >= 0 and objects[node] is not None:
            labels.append(self._edges.label(node, thing))
        return [label for label in labels if label]

    def _way(self, holder):
        """(path, name) of a holder."""
        node = holder.anchor.node
        while self._walk.parents[node] >= 0:
            node = self._walk.parents[node]
        labels = self._labels(node, holder.anchor.node, holder.anchor.thing)
        root = holder.root
        name = root.name if root is not None else ""
        for label in labels:
            if label[0] in ".[":
                name += label
            elif label.startswith(("closure ", "local ", "default ")):
                name = label.split(" ", 1)[1]
        if len(labels) > WAY_MAX:
            labels = labels[:WAY_MAX - 4] + ["…"] + labels[-3:]
        return ([root.label] if root is not None else []) + labels, _cut(name)

    # --- words

    def _text(self, holder, name, kind, path):
        place = where(self._places, holder.root)
        note = holder.root.note if holder.root is not None else None
        what = f"{kind} `{name}`{place}"
        if holder.root is not None and holder.root.is_whole and holder.root.kind == "local":
            what = f"likely an expression that runs{place} or in a caller"
        if holder in self._excluded:
            note = AT_MOST
        if holder.kind == "graph":
            is_one = holder.anchor.thing is not None
            what = (f"the autograd graph of `{name}`{place}" if is_one and name else
                    f"the autograd graphs of {what}")
        elif holder.kind in _PARTS:
            what = f"{_PARTS[holder.kind]} of {what}{self._most(holder)}"
        elif holder.kind == "garbage":
            return note or "objects that nothing refers to, which wait for Python's collector"
        elif holder.kind == "unknown":
            return note or "code in C: no name leads to them"
        elif holder.kind == "closure":
            what = f"{kind} `{name}` in a closure ({_cut(' '.join(path))}){place}"
        elif holder.kind == "generator":
            what = f"{kind} `{name}` in a generator ({_cut(' '.join(path))}){place}"
        elif holder.kind == "traceback" and note is None:
            what = f"{what}, by tracebacks of exceptions"
        return f"{what}, {note}" if type(note) is str else what

    @staticmethod
    def _most(holder):
        """The one that has most of the bytes, where there is one."""
        storage, claim = max(holder.claims, key=lambda one: one[0].bytes)
        if 2 * storage.bytes < holder.bytes or not claim[3]:
            return ""
        share = "all" if len(holder.claims) == 1 else "most"
        return f", {share} of it `{_cut(claim[3])}`"

    # --- blocks

    def _blocks(self, found):
        """[[address, bytes, label]] of each holder, the largest of all of them."""
        largest = heapq.nlargest(
            BLOCKS_MAX,
            ((storage.bytes, -index, place) for index, holder in enumerate(found)
             for place, (storage, _) in enumerate(holder.claims)))
        blocks = [[] for _ in found]
        is_up = False
        for count, (size, index, place) in enumerate(largest):
            holder = found[-index]
            storage, claim = holder.claims[place]
            if count % _CHECKED == 0:
                is_up = is_up or self._clock.is_up()
            label = claim[3] or ("" if is_up else self._label(holder, claim))
            blocks[-index].append([storage.address, size, label])
        return blocks

    def _label(self, holder, claim):
        parent, thing = claim[2]
        if holder.anchor.thing is not None:
            return ""
        return _cut("".join(self._labels(holder.anchor.node, parent, thing)))

    # --- the line that made it

    def _made(self, holder):
        sums = {}
        for storage, _ in sorted(holder.claims, key=lambda one: -one[0].bytes)[:8]:
            if self._made_left <= 0 or self._clock.is_up():
                break
            self._made_left -= 1
            for frame in self._walk.tensors.made(storage.address):
                if not isinstance(frame, dict):
                    break
                file, line = frame.get("filename"), frame.get("line")
                if type(file) is str and self._places.is_users_file(file):
                    key = (file, line, frame.get("name"))
                    sums[key] = sums.get(key, 0) + storage.bytes
                    break
        return max(sums, key=sums.get) if sums else (None, None, None)


def where(places, root):
    """" in main (train.py:41)" of a root; "" of one that stands nowhere."""
    if root is None or root.file is None:
        return ""
    file = places.file(root.file)
    file = os.path.basename(file) if os.path.isabs(file) else file
    if root.line is None:
        return f" of module {root.function} ({file})"
    return f" in {root.function} ({file}:{root.line})"


def nameless(number, kind, size, device, text):
    """A holder that has no object: the backward pass, libraries."""
    return {
        "id": number, "kind": kind, "name": None, "type": None, "path": [], "file": None,
        "line": None, "function": None, "made_file": None, "made_line": None,
        "made_function": None, "tensors": 0, "bytes": size, "device": device["device"],
        "also": [], "blocks": [], "text": text,
    }


def numbered(holders):
    """The largest first, and none without bytes."""
    found = sorted((one for one in holders if one["bytes"]), key=lambda one: -one["bytes"])
    new = {one["id"]: index for index, one in enumerate(found)}
    for one in found:
        one["id"] = new[one["id"]]
        one["also"] = sorted(new[other] for other in one["also"] if other in new)
    return found


def whole(torch, moment, members):
    """The document, with what every one has."""
    return {"schema": "holders/1", "plimsoll": None,
            "torch": str(getattr(torch, "__version__", "")), "pid": os.getpid(),
            "moment": moment, **members}


def failed(torch, moment, error):
    """The document of a search that an error ended."""
    return whole(torch, moment, {
        "seconds": 0, "is_complete": False,
        "why_incomplete": f"the search failed: {type(error).__name__}: {error}"[:500],
        "devices": [], "holders": [], "garbage": None, "warnings": [],
    })


def _cut(text):
    return text if len(text) <= NAME_MAX else text[:NAME_MAX - 1] + "…"
