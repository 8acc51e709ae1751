#!/usr/bin/env python3
"""A second opinion on `plimsoll inspect --json`.

Reads a PyTorch memory snapshot with Python's own pickle and json modules and works out, from the
definitions alone and without looking at Plimsoll's code, the figures that inspect must print.

    inspect_oracle.py FILE                       print the figures as JSON
    inspect_oracle.py --compare PLIMSOLL FILE…   run PLIMSOLL inspect --json on each file and
                                                 compare every figure; status 1 on a difference

Definitions
    live        from an allocation's alloc to its free_requested; to its free_completed in a file
                that has no free_requested anywhere. Trace sizes are requested bytes.
    start       live before the first event: allocations whose free is in the trace and whose alloc
                is not, and blocks that end active_allocated at an address the trace never touched.
    peak        the first moment, among the start and the states after each event, at which live
                requested bytes are highest.
    end         the segments and blocks alone.

Where the definitions leave room, this file decides as follows (each is marked "decision" below):
    1  an alloc at an address that is still live ends the earlier allocation;
    2  a free of an address that the trace has already seen become free changes nothing;
    3  an allocation keeps the size of its alloc whatever size its free names;
    4  a block that ends active_pending_free still holds the allocation that was freed last;
    5  reserved bytes that contradictory segment events would make negative are 0;
    6  a block whose size nothing tells is as large as its rounded request, or up to 1 MiB larger.

A block is as large as its rounded request, but for those of large segments that are not expandable:
there PyTorch leaves up to 1 MiB of a free block with the allocation that takes the front of it. So
the heap of these segments is followed from event to event (class Heap).
"""

import gzip
import io
import json
import pickle
import shutil
import subprocess
import sys
from collections import Counter, namedtuple

PENDING_STATES = ("active_pending_free", "active_awaiting_free")
BLOCK_ACTIONS = ("alloc", "free_requested", "free_completed")
RESERVE_CHANGE = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
MIN_BLOCK = 512
MIB = 1 << 20


class Unavailable(Exception):
    """This machine lacks something that reading the file takes."""


# --- Reading ------------------------------------------------------------------


class PlainUnpickler(pickle.Unpickler):
    """Builds plain values only: whatever would import or call something is refused."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused: {module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError(f"refused: persistent id {pid!r}")


def decompress(data):
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        if not shutil.which("zstd"):
            raise Unavailable("no zstd command")
        return subprocess.run(
            ["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True
        ).stdout
    return data


def load(path):
    """The snapshot of a file as plain Python values. The bytes decide the format, not the name."""
    with open(path, "rb") as file:
        data = decompress(file.read())
    if data.lstrip()[:1] in (b"{", b"["):  # neither is a pickle opcode
        return json.loads(data.decode("utf-8", "surrogateescape"))
    return PlainUnpickler(io.BytesIO(data), encoding="utf-8", errors="surrogateescape").load()


# --- Plain views of the file's records ----------------------------------------

Block = namedtuple("Block", "addr size requested state frames")
Segment = namedtuple("Segment", "device addr size blocks is_expandable")


def integer(value, default=0):
    """An int, also where JSON wrote it as a float."""
    return int(value) if isinstance(value, (int, float)) else default


def optional_integer(record, key):
    return None if record.get(key) is None else integer(record[key])


def frames_of(record):
    """A record's stack as a tuple of (filename, line, name), innermost first."""
    return tuple(
        (frame.get("filename", ""), integer(frame.get("line")), frame.get("name", ""))
        for frame in record.get("frames") or ()
    )


def block_of(record, addr):
    """A block; 2.0 kept its requested size and stack in the newest entry of `history`."""
    history = record.get("history") or ()
    newest = history[0] if history else {}
    size = integer(record["size"])
    requested = record.get("requested_size", newest.get("real_size", size))
    frames = frames_of(record) if "frames" in record else frames_of(newest)
    return Block(
        integer(record.get("address", addr)),
        size,
        integer(requested),
        record.get("state", "inactive"),
        frames,
    )


def segment_of(record):
    blocks = []
    next_addr = integer(record.get("address"))
    for entry in record.get("blocks") or ():
        block = block_of(entry, next_addr)
        blocks.append(block)
        next_addr = block.addr + block.size
    size = integer(record.get("total_size"), sum(block.size for block in blocks))
    return Segment(
        integer(record.get("device")),
        integer(record.get("address")),
        size,
        blocks,
        bool(record.get("is_expandable")),
    )


def is_active(block):
    return block.state == "active_allocated" or block.state in PENDING_STATES


# --- Rounding -----------------------------------------------------------------


def divisions_of(settings):
    """roundup_power2_divisions as a list of 16, one per power of two from 1 MiB up."""
    table = (settings or {}).get("roundup_power2_divisions") or {}
    if not isinstance(table, dict):
        return [integer(table)] * 16
    divisions = [0] * 16
    for boundary_mib, value in table.items():
        index = min(int(boundary_mib).bit_length() - 1, 15)
        divisions[max(index, 0)] = integer(value)
    return divisions


def split_limit_of(settings):
    """Blocks from this size on are handed out whole."""
    limit = integer((settings or {}).get("max_split_size"), -1)
    return limit if limit > 0 else float("inf")


def rounded(requested, divisions):
    """The block size that a request of this size asks for."""
    if requested < MIN_BLOCK:
        return MIN_BLOCK
    power = requested.bit_length() - 1
    division = divisions[min(max(power - 20, 0), 15)]
    if division > 1 and requested > MIN_BLOCK * division:
        if requested == 1 << power:
            return requested
        step = (1 << power) >> (division.bit_length() - 1)
        return -(-requested // step) * step if step else 2 << power
    return -(-requested // MIN_BLOCK) * MIN_BLOCK


# --- One device ---------------------------------------------------------------


class Allocation:
    """One life of an address. `block_size` is known when a block still holds it at the end; else
    the heap works it out, and `slack` is by how much that may be wrong."""

    def __init__(self, addr, size, frames, from_start):
        self.addr = addr
        self.size = size
        self.frames = frames
        self.from_start = from_start
        self.block_size = None
        self.heap_size, self.slack = None, 0

    @property
    def held(self):
        return self.heap_size if self.block_size is None else self.block_size


def find_lives(events, end_action, contradictions):
    """Which allocation each event begins and ends, and who is live at both ends of the trace.

    Returns (begins, ends, at_start, at_end, last, touched): begins and ends map an event index to
    an Allocation, at_end and last map an address to its live and its latest Allocation.
    """
    begins, ends, at_start = {}, {}, []
    live, last, touched = {}, {}, set()
    for index, event in enumerate(events):
        action = event.get("action")
        if action not in BLOCK_ACTIONS:
            continue
        addr, size = integer(event.get("addr")), integer(event.get("size"))
        if action == "alloc":
            if addr in live:  # decision 1
                contradictions["alloc_over_live"] += 1
                ends[index] = live[addr]
            live[addr] = last[addr] = begins[index] = Allocation(
                addr, size, frames_of(event), False
            )
        elif action == end_action:
            if addr in live:
                if live[addr].size != size:  # decision 3
                    contradictions["free_size_mismatch"] += 1
                ends[index] = live.pop(addr)
            elif addr in touched:  # decision 2
                contradictions["double_free"] += 1
            else:
                before = Allocation(addr, size, frames_of(event), True)
                at_start.append(before)
                ends[index] = last[addr] = before
        touched.add(addr)
    return begins, ends, at_start, live, last, touched


def match_final_blocks(blocks, at_start, at_end, last, touched, contradictions):
    """Find what the final blocks hold; those the trace never touched were live from the start."""
    held = set()
    for block in blocks:
        if block.state == "active_allocated":
            held.add(block.addr)
            if block.addr in at_end:
                allocation = at_end[block.addr]
                allocation.block_size = block.size
                if allocation.size != block.requested:
                    contradictions["live_size_differs_from_block"] += 1
            elif block.addr in touched:
                contradictions["active_but_freed"] += 1
            else:
                ghost = Allocation(block.addr, block.requested, block.frames, True)
                ghost.block_size = block.size
                at_start.append(ghost)
        elif block.state in PENDING_STATES and block.addr in last and block.addr not in at_end:
            last[block.addr].block_size = block.size  # decision 4
    contradictions["live_but_not_active"] += sum(1 for addr in at_end if addr not in held)


class Heap:
    """The large plain segments, as lists that are searched from end to end."""

    def __init__(self, events, segments, divisions, limit):
        self.divisions, self.limit = divisions, limit
        self.expandable = [(s.addr, s.addr + s.size) for s in segments if s.is_expandable]
        self.plain = {s.addr: s.addr + s.size for s in segments if not s.is_expandable}
        for event in reversed(events):
            addr, size = integer(event.get("addr")), integer(event.get("size"))
            if event.get("action") == "segment_alloc" and self.plain.get(addr) == addr + size:
                del self.plain[addr]
            elif event.get("action") == "segment_free":
                self.plain.setdefault(addr, addr + size)
            elif event.get("action") in ("segment_map", "segment_unmap"):
                self.expandable.append((addr, addr + size))
        self.taken = {}  # address → Allocation
        self.is_known = bool(segments) or any(e.get("action") in RESERVE_CHANGE for e in events)

    def segment_of(self, addr):
        return next(((b, e) for b, e in self.plain.items() if b <= addr < e), None)

    def room(self, addr, end):
        return min([other for other in self.taken if other > addr] + [end]) - addr

    def place(self, allocation):
        """Size one that takes the front of a free block, or that was there before."""
        need = rounded(allocation.size, self.divisions)
        allocation.heap_size, allocation.slack = need, 0
        if need <= MIB or any(b <= allocation.addr < e for b, e in self.expandable):
            return
        segment = self.segment_of(allocation.addr)
        if segment is None:  # decision 6
            allocation.slack = MIB
            return
        room = self.room(allocation.addr, segment[1])
        if room < need:
            allocation.slack = MIB
            return
        if allocation.block_size is None and (room - need <= MIB or need >= self.limit):
            allocation.heap_size = room
        if allocation.from_start and allocation.block_size is None:
            allocation.slack = min(MIB, room - need)  # decision 6, until it is learned
        self.taken[allocation.addr] = allocation

    def learn(self, addr):
        """What is handed out at an address began a free block: there the block before it ended."""
        segment = self.segment_of(addr)
        below = [other for other in self.taken if segment and segment[0] <= other < addr]
        before = self.taken[max(below)] if below else None
        if before is not None and before.slack:
            need = rounded(before.size, self.divisions)
            if need <= addr - before.addr <= need + MIB:
                before.heap_size, before.slack = addr - before.addr, 0

    def follow(self, events, begins, at_start, last_half):
        for one in sorted(at_start, key=lambda one: one.addr):
            self.taken[one.addr] = one
        for one in at_start:
            del self.taken[one.addr]
            self.place(one)
            self.taken[one.addr] = one
        self.taken = {
            addr: one
            for addr, one in self.taken.items()
            if rounded(one.size, self.divisions) > MIB and self.segment_of(addr)
        }
        for index, event in enumerate(events):
            addr, size = integer(event.get("addr")), integer(event.get("size"))
            action = event.get("action")
            if action == "alloc":
                self.taken.pop(addr, None)
                if rounded(size, self.divisions) > MIB:
                    self.learn(addr)
                self.place(begins[index])
            elif action == last_half:
                self.taken.pop(addr, None)
            elif action == "segment_alloc":
                self.plain[addr] = addr + size
            elif action == "segment_free":
                self.plain.pop(addr, None)
        if not self.is_known:
            for one in [*at_start, *begins.values()]:
                one.slack = MIB if rounded(one.size, self.divisions) > MIB else 0


def find_peak(count, begins, ends, at_start):
    """The first index (-1: the start) at which live bytes are highest, who is live then, and the
    live bytes before each event."""
    total = best = sum(allocation.size for allocation in at_start)
    best_index = -1
    before = []
    for index in range(count):
        before.append(total)
        total -= ends[index].size if index in ends else 0
        total += begins[index].size if index in begins else 0
        if total > best:
            best, best_index = total, index
    live = dict.fromkeys(at_start)
    for index in range(best_index + 1):
        if index in ends:
            del live[ends[index]]
        if index in begins:
            live[begins[index]] = None
    return best, best_index, list(live), before


def group_by_stack(allocations):
    groups = {}
    for allocation in allocations:
        bytes_and_count = groups.setdefault(allocation.frames, [0, 0])
        bytes_and_count[0] += allocation.size
        bytes_and_count[1] += 1
    ordered = sorted(groups.items(), key=lambda item: -item[1][0])
    return [
        {
            "bytes": size,
            "count": count,
            "frames": [{"filename": f, "line": line, "name": name} for f, line, name in frames],
        }
        for frames, (size, count) in ordered
    ]


def end_state(segments):
    blocks = [block for segment in segments for block in segment.blocks]
    allocated = [block for block in blocks if block.state == "active_allocated"]
    free = [block.size for block in blocks if not is_active(block)]
    used = [segment for segment in segments if any(map(is_active, segment.blocks))]
    reserved = sum(segment.size for segment in segments)
    return {
        "requested_bytes": sum(block.requested for block in allocated),
        "allocated_bytes": sum(block.size for block in allocated),
        "active_bytes": sum(block.size for block in blocks if is_active(block)),
        "reserved_bytes": reserved,
        "inactive_split_bytes": sum(
            block.size for segment in used for block in segment.blocks if not is_active(block)
        ),
        "releasable_bytes": reserved - sum(segment.size for segment in used),
        "largest_free_block_bytes": max(free, default=0),
        "segments": len(segments),
        "blocks": len(blocks),
    }


def inspect_device(device, events, segments, end_action, settings):
    """(figures of one device, Counter of the contradictions seen)"""
    contradictions = Counter()
    begins, ends, at_start, at_end, last, touched = find_lives(events, end_action, contradictions)
    blocks = [block for segment in segments for block in segment.blocks]
    match_final_blocks(blocks, at_start, at_end, last, touched, contradictions)
    peak_bytes, peak_index, live, before = find_peak(len(events), begins, ends, at_start)
    heap = Heap(events, segments, divisions_of(settings), split_limit_of(settings))
    has_completed = any(event.get("action") == "free_completed" for event in events)
    heap.follow(events, begins, at_start, "free_completed" if has_completed else end_action)

    end = end_state(segments)
    peak_reserved = end["reserved_bytes"] - sum(
        RESERVE_CHANGE.get(event.get("action"), 0) * integer(event.get("size"))
        for event in events[peak_index + 1 :]
    )
    if peak_reserved < 0:  # decision 5
        contradictions["negative_reserved"] += 1
    times = [event["time_us"] for event in events if event.get("time_us") is not None]
    contradictions["time_backwards"] += sum(b < a for a, b in zip(times, times[1:]))

    figures = {
        "device": device,
        "events": len(events),
        "events_by_action": dict(Counter(event.get("action") for event in events)),
        "duration_us": integer(times[-1] - times[0]) if times else None,
        "start": {"requested_bytes": sum(allocation.size for allocation in at_start)},
        "end": end,
        "peak": {
            "requested_bytes": peak_bytes,
            "allocated_bytes": sum(one.held for one in live),
            "allocated_slack_bytes": sum(one.slack for one in live if one.block_size is None),
            "reserved_bytes": max(peak_reserved, 0),
            "event": peak_index,
            "time_us": optional_integer(events[peak_index], "time_us") if peak_index >= 0 else None,
            "live_count": len(live),
            "by_stack": group_by_stack(live),
        },
        "ooms": [
            {
                "event": index,
                "requested_bytes": integer(event.get("size")),
                "device_free_bytes": optional_integer(event, "device_free"),
                "live_requested_bytes": before[index],
            }
            for index, event in enumerate(events)
            if event.get("action") == "oom"
        ],
    }
    return figures, +contradictions


def inspect(snapshot):
    """(figures of the whole snapshot, {device: Counter of contradictions})"""
    if isinstance(snapshot, (list, tuple)):  # 1.x: a bare list of segments
        snapshot = {"segments": snapshot}
    traces = [list(trace or ()) for trace in snapshot.get("device_traces") or ()]
    segments = [segment_of(record) for record in snapshot.get("segments") or ()]
    settings = snapshot.get("allocator_settings")
    requested_seen = any(e.get("action") == "free_requested" for trace in traces for e in trace)
    end_action = "free_requested" if requested_seen else "free_completed"

    figures, contradictions = [], {}
    for device in sorted({*range(len(traces)), *(segment.device for segment in segments)}):
        events = traces[device] if device < len(traces) else []
        mine = [segment for segment in segments if segment.device == device]
        answer, found = inspect_device(device, events, mine, end_action, settings)
        figures.append(answer)
        contradictions[device] = found
    return {"devices": figures}, contradictions


# --- Comparing ----------------------------------------------------------------


def is_comparable_text(frames):
    """Whether every string of a stack survives a trip through UTF-8 JSON unchanged."""
    try:
        json.dumps(frames, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, TypeError):
        return False
    return all(isinstance(frame[key], str) for frame in frames for key in ("filename", "name"))


def compare_stacks(where, expected, actual):
    pairs = [
        Counter((group["bytes"], group["count"]) for group in side) for side in (expected, actual)
    ]
    if pairs[0] != pairs[1]:
        missing, surplus = pairs[0] - pairs[1], pairs[1] - pairs[0]
        yield (
            f"{where}: {len(expected)} stacks expected, got {len(actual)}; (bytes, count) missing "
            f"{sorted(missing.elements())[:5]}, surplus {sorted(surplus.elements())[:5]}"
        )
        return
    by_pair = {(group["bytes"], group["count"]): group["frames"] for group in actual}
    for group in expected:
        pair = (group["bytes"], group["count"])
        if pairs[0][pair] == 1 and is_comparable_text(group["frames"]):
            got = [
                {key: frame.get(key) for key in ("filename", "line", "name")}
                for frame in by_pair[pair]
            ]
            if got != group["frames"]:
                yield f"{where}: frames of the stack with (bytes, count) {pair} differ"


def compare_values(where, expected, actual, skip=()):
    """One line per figure that differs; figures only the actual side has are no concern of ours."""
    if where.rsplit(".", 1)[-1] in skip:
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        sums = ("allocated_bytes", "allocated_slack_bytes")
        slack = [side.get(sums[1], 0) for side in (expected, actual)]
        if any(slack):  # two estimates, which must not exclude each other; ours knows less
            if slack[1] > slack[0]:
                yield f"{where}.{sums[1]}: expected {slack[0]} at most, got {slack[1]}"
            if abs(expected[sums[0]] - actual[sums[0]]) > sum(slack):
                yield f"{where}.{sums[0]}: expected {expected[sums[0]]}, got {actual[sums[0]]}"
            expected = {key: value for key, value in expected.items() if key not in sums}
    if where.endswith(".by_stack") and isinstance(actual, list):
        yield from compare_stacks(where, expected, actual)
    elif where.endswith(".events_by_action") and isinstance(actual, dict):
        actual = {key: value for key, value in actual.items() if value}
        if expected != actual:
            yield f"{where}: expected {expected}, got {actual}"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key in actual:
                yield from compare_values(f"{where}.{key}", value, actual[key], skip)
            elif key not in skip:
                yield f"{where}.{key}: missing, expected {value!r:.80}"
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual)):
            yield from compare_values(f"{where}[{index}]", one, other, skip)
    elif expected != actual or type(expected) is not type(actual):
        yield f"{where}: expected {expected!r:.120}, got {actual!r:.120}"


def differences(expected, actual, skip=()):
    """Every difference between two inspect documents; pinned host memory is left out."""
    devices = [
        device
        for device in actual.get("devices", [])
        if isinstance(device.get("device"), int) and device["device"] >= 0
    ]
    expected_names = [device["device"] for device in expected["devices"]]
    actual_names = [device["device"] for device in devices]
    if expected_names != actual_names:
        return [f"devices: expected {expected_names}, got {actual_names}"]
    return [
        line
        for one, other in zip(expected["devices"], devices)
        for line in compare_values(f"device {one['device']}", one, other, skip)
    ]


def only_file(stdout):
    """The figures of the one file that an inspect/1 document is about."""
    try:
        files = json.loads(stdout)["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"stdout is no inspect/1 document: {error!r}") from error
    if len(files) != 1:
        raise ValueError(f"stdout is about {len(files)} files")
    return files[0]


def compare_file(plimsoll, path, skip=()):
    """Differences between this oracle and a plimsoll binary on one file."""
    expected, _ = inspect(load(path))
    run = subprocess.run([plimsoll, "inspect", "--json", path], capture_output=True)
    if run.returncode != 0:
        return [f"exit status {run.returncode}: {run.stderr.decode(errors='replace').strip()}"]
    try:
        return differences(expected, only_file(run.stdout), skip)
    except ValueError as error:
        return [str(error)]


def compare_files(plimsoll, paths):
    """Compare each file and print; returns the process's exit status."""
    different = skipped = 0
    for path in paths:
        try:
            lines = compare_file(plimsoll, path)
        except Unavailable as reason:
            print(f"skip  {path}: {reason}")
            skipped += 1
            continue
        print(f"{'DIFF' if lines else 'same':5} {path}")
        for line in lines:
            print(f"      {line}")
        different += bool(lines)
    print(
        f"{len(paths)} files: {len(paths) - different - skipped} same, {different} different, {skipped} skipped"
    )
    return 1 if different else 0


def main(arguments):
    if len(arguments) >= 3 and arguments[0] == "--compare":
        return compare_files(arguments[1], arguments[2:])
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    figures, contradictions = inspect(load(arguments[0]))
    json.dump(figures, sys.stdout, indent=1)
    print()
    for device, found in contradictions.items():
        for name, count in sorted(found.items()):
            print(f"device {device}: {name} {count} times", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
