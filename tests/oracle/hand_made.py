"""Snapshots written by hand: one device, one segment, a few events."""

from allocator_sim import MIB

BASE = 0x7F2000000000


def event(action, offset=0, size=0, **more):
    return {"action": action, "addr": BASE + offset, "size": size, "stream": 0, **more}


def life(offset, size):
    return [
        event("alloc", offset, size),
        event("free_requested", offset, size),
        event("free_completed", offset, size),
    ]


def block(offset, size, state="active_allocated", requested=None, **more):
    return {
        "address": BASE + offset,
        "size": size,
        "state": state,
        "frames": [],
        "requested_size": size if requested is None else requested,
        **more,
    }


def tiny(events, blocks, total=2 * MIB, **more):
    """One device, one segment; what the blocks leave of it is free."""
    used = sum(one["size"] for one in blocks)
    rest = (
        [block(used, total - used, "inactive")]
        if used < total and not more.pop("no_rest", False)
        else []
    )
    return {
        "segments": [
            {
                "device": 0,
                "address": BASE,
                "total_size": total,
                "stream": 0,
                "segment_type": "small",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "frames": [],
                "blocks": blocks + rest,
            }
        ],
        "device_traces": [[dict(one, time_us=1000 + 10 * i) for i, one in enumerate(events)]],
        **more,
    }


def rich():
    """A small snapshot that has every field."""
    frame = {"filename": "a.py", "line": 1, "name": "f", "fx_node_op": "call", "fx_node_name": "n"}
    snapshot = tiny(
        [
            event(
                "alloc",
                0,
                100,
                frames=[frame],
                compile_context="N/A",
                user_metadata="m",
                pool_id=(0, 0),
                forward_frames=["g"],
                category="x",
            ),
            {"action": "oom", "device_free": 5, "size": 512, "stream": 0, "frames": [frame]},
            event("free_requested", 0, 100),
            event("free_completed", 0, 100),
        ],
        [block(0, 512, requested=100, frames=[frame])],
    )
    snapshot["segments"][0].update(
        allocated_size=512, active_size=512, requested_size=100, frames=[frame]
    )
    snapshot["segments"][0]["blocks"][0]["history"] = [
        {"addr": BASE, "real_size": 100, "frames": [frame]}
    ]
    snapshot["allocator_settings"] = {
        "PYTORCH_CUDA_ALLOC_CONF": "",
        "max_split_size": -1,
        "roundup_power2_divisions": {"1": 0, "2": 4},
        "expandable_segments": False,
    }
    snapshot["external_annotations"] = [{"name": "s", "stage": "START", "device": 0, "time_us": 1}]
    snapshot["host_segments"] = [{"device": -1, "address": 1, "total_size": 2, "blocks": []}]
    snapshot["host_traces"] = [[event("alloc", 0, 5)]]
    return snapshot
