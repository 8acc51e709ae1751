"""traces.py - event lists of other people's recordings, as snapshots.

A list has what stood at the start and each event since (rows event,time_us,action,addr,size). A
snapshot has what stands at the end: segments follow from the events, and blocks from what is
live, for under PyTorch's default settings a free block of the large pool has more than 1 MiB:
less than that behind a live block belongs to it.
"""
import bisect
import csv
import pathlib
import pickle

SMALL = 1 << 20
ALIGNMENT = 512
SMALL_SEGMENT = 2 << 20


def rounded(size):
    return max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)


def read(path):
    """(what stood at the start, events, segments at the end, live blocks at the end)."""
    start, events, segments, live = [], [], {}, {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            action, addr, size = row["action"], int(row["addr"]), int(row["size"])
            stream = int(row["stream"] or 0)
            if action in ("init_segment", "segment_alloc"):
                segments[addr] = (size, stream)
            elif action == "segment_free":
                del segments[addr]
            elif action in ("init_block", "alloc"):
                live[addr] = size
            elif action == "free_requested":
                del live[addr]
            if action.startswith("init"):
                start.append((action, addr, size))
            else:
                events.append({"action": action, "addr": addr, "size": size, "stream": stream,
                               "time_us": int(row["time_us"])})
    return start, events, segments, live


def block(addr, size, requested, state):
    return {"address": addr, "size": size, "requested_size": requested, "state": state,
            "frames": []}


def tiled(base, size, blocks, is_small):
    """The blocks of a segment, live and free."""
    result, at = [], base
    for addr, requested in blocks + [(base + size, None)]:
        gap = addr - at
        if gap > 0 and result and not is_small and gap <= SMALL:
            result[-1]["size"] += gap
        elif gap > 0:
            result.append(block(at, gap, 0, "inactive"))
        if requested is not None:
            result.append(block(addr, rounded(requested), requested, "active_allocated"))
            at = addr + rounded(requested)
    return result


def snapshot(path):
    """The dict that torch.cuda.memory._snapshot() would have given."""
    _, events, segments, live = read(path)
    addrs = sorted(live)
    told = []
    for base, (size, stream) in sorted(segments.items()):
        first, end = (bisect.bisect_left(addrs, at) for at in (base, base + size))
        blocks = tiled(base, size, [(addr, live[addr]) for addr in addrs[first:end]],
                       size == SMALL_SEGMENT)
        active = sum(b["size"] for b in blocks if b["state"] != "inactive")
        told.append({"device": 0, "address": base, "total_size": size, "allocated_size": active,
                     "active_size": active, "requested_size": sum(b["requested_size"]
                                                                  for b in blocks),
                     "stream": stream, "segment_type": "small" if size == SMALL_SEGMENT
                     else "large", "segment_pool_id": (0, 0), "is_expandable": False,
                     "frames": [], "blocks": blocks})
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                "garbage_collection_threshold": 0.0, "expandable_segments": False,
                "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
                "pinned_use_cuda_host_register": False, "roundup_power2_divisions": {}}
    return {"segments": told, "device_traces": [events], "allocator_settings": settings,
            "external_annotations": []}


def write(path, folder):
    """Writes a list as a snapshot into a folder; returns its path."""
    made = pathlib.Path(folder) / (pathlib.Path(path).stem + ".pickle")
    made.write_bytes(pickle.dumps(snapshot(path), protocol=4))
    return made
