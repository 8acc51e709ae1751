"""Cases whose figures are known: schemas, encodings, programs, contradictions, corners, texts."""

import copy
import gzip
import json
import pickle
import random
import shutil
import subprocess

import pickle_forms
from allocator_sim import MIB, Device, snapshot_of
from hand_made import BASE, block, event, life, tiny
from inspect_oracle import inspect
from schemas import (
    AGE,
    GENERATIONS,
    POOLS,
    STREAMS,
    as_floats,
    make_stacks,
    program,
    project,
    run_program,
    shuffled,
    unshared,
)


def zstd(data):
    """The data compressed, or None without the zstd command."""
    if not shutil.which("zstd"):
        return None
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


# --- Checking the oracle against the simulator


def assert_truth(name, snapshot, truth):
    """The oracle must find in the snapshot what the simulator knows to be true."""
    figures, _ = inspect(snapshot)
    assert [device["device"] for device in figures["devices"]] == sorted(truth), name
    for device in figures["devices"]:
        true = truth[device["device"]]
        end, peak = device["end"], device["peak"]
        found = (
            device["start"]["requested_bytes"],
            peak["requested_bytes"],
            peak["live_count"],
            peak["event"],
            peak["reserved_bytes"],
            end["requested_bytes"],
            end["allocated_bytes"],
            end["active_bytes"],
            end["reserved_bytes"],
            [(oom["event"], oom["live_requested_bytes"]) for oom in device["ooms"]],
        )
        known = (
            true["start"],
            true["peak"].requested,
            true["peak"].live_count,
            true["event"],
            true["peak"].reserved,
            true["end"].requested,
            true["end"].allocated,
            true["end"].active,
            true["end"].reserved,
            true["ooms"],
        )
        assert found == known, f"{name}: found {found}, true {known}"
        assert peak["requested_bytes"] == sum(group["bytes"] for group in peak["by_stack"]), name
        off = abs(peak["allocated_bytes"] - true["peak"].allocated)
        assert off <= peak["allocated_slack_bytes"], f"{name}: allocated is off by {off}"


# --- Schemas and encodings


def add_generations(folder):
    for generation in GENERATIONS:
        expandable = AGE[generation] >= AGE["2.1"]
        _, (newest, truth) = program(
            f"generation {generation}",
            streams=STREAMS,
            wait=0.3,
            pools=POOLS,
            expandable=expandable,
            notes=AGE[generation] >= AGE["2.14"],
            fx=AGE[generation] >= AGE["2.10"],
        )
        snapshot = project(newest, generation)
        if generation != "1.x":
            assert_truth(generation, snapshot, truth)
        folder.good_pickle(
            f"generation-{generation}", snapshot, f"as PyTorch {generation} writes it"
        )
        folder.good_json(f"generation-{generation}", snapshot, f"PyTorch {generation}, as JSON")
        folder.good_pickle(
            f"generation-{generation}-cpp", snapshot, "as the C++ pickler writes it", 2
        )


def add_encodings(folder):
    rng = random.Random("encodings")
    _, (newest, truth) = program(
        "encodings", devices=2, streams=STREAMS, pools=POOLS, wait=0.3, notes=True, fx=True
    )
    snapshot = project(newest, "2.14")
    assert_truth("encodings", snapshot, truth)
    for protocol in range(6):
        folder.good_pickle(
            f"protocol-{protocol}", snapshot, f"pickle protocol {protocol}", protocol
        )
        for variant in range(4):
            folder.good(
                f"opcodes-{protocol}-{variant}.pickle",
                pickle_forms.encode(snapshot, rng, protocol),
                snapshot,
                f"protocol {protocol} with opcodes that pickle.dumps does not choose",
            )
    pickled, text = pickle.dumps(snapshot, 4), json.dumps(snapshot).encode()
    folder.good("pickle-named.json", pickled, snapshot, "a pickle under the name of JSON")
    folder.good("json-named.pickle", text, snapshot, "JSON under the name of a pickle")
    folder.good("no-extension", pickled, snapshot, "a name that says nothing")
    for name, data in (("pickle", pickled), ("json", text)):
        folder.good(f"plain.{name}.gz", gzip.compress(data, mtime=0), snapshot, "gzip")
        folder.good(
            f"members.{name}.gz",
            gzip.compress(data[:99], mtime=0) + gzip.compress(data[99:], mtime=0),
            snapshot,
            "gzip in two members",
        )
        folder.good(
            f"gzip-named.{name}", gzip.compress(data, mtime=0), snapshot, "gzip without .gz"
        )
        if zstd(data):
            folder.good(f"plain.{name}.zst", zstd(data), snapshot, "zstd")
            folder.good(
                f"frames.{name}.zst",
                zstd(data[:99]) + zstd(data[99:]),
                snapshot,
                "zstd in two frames",
            )
    folder.good(
        "indented.json", json.dumps(snapshot, indent=2).encode(), snapshot, "JSON with white space"
    )
    folder.good(
        "utf8.json", json.dumps(snapshot, ensure_ascii=False).encode(), snapshot, "JSON in UTF-8"
    )
    folder.good(
        "floats.json", json.dumps(as_floats(snapshot)).encode(), snapshot, "ints written as 512.0"
    )
    folder.good_pickle("floats", as_floats(snapshot), "ints as floats")
    for i in range(4):
        mixed = shuffled(snapshot, rng)
        folder.good_pickle(f"shuffled-{i}", mixed, "keys in another order")
        folder.good_json(f"shuffled-{i}", mixed, "keys in another order")
    folder.good_pickle(
        "traces-first", dict(reversed(list(snapshot.items()))), "device_traces before segments"
    )
    folder.good_pickle("unshared", unshared(snapshot), "no object is shared", 4)
    fresh = pickle.dumps(unshared(snapshot), 2)
    folder.good("unshared-2.pickle", fresh, snapshot, "no object is shared")
    tuples = dict(
        snapshot,
        device_traces=tuple(tuple(trace) for trace in snapshot["device_traces"]),
        segments=tuple(snapshot["segments"]),
    )
    folder.good_pickle("tuples", tuples, "tuples where lists are usual")


# --- What recordings contain


def add_programs(folder):
    features = {
        "plain": {},
        "streams": dict(streams=STREAMS, wait=0.6),
        "pools": dict(pools=POOLS),
        "expandable": dict(expandable=True, wait=0.2),
        "devices": dict(devices=3, wait=0.3),
        "everything": dict(
            streams=STREAMS, pools=POOLS, expandable=True, wait=0.5, notes=True, fx=True
        ),
        "no-stacks": dict(alloc_without_stack=True),
    }
    for name, options in features.items():
        for seed in range(4):
            case = f"program-{name}-{seed}"
            devices, (snapshot, truth) = program(case, steps=120, **options)
            assert_truth(case, snapshot, truth)
            folder.good_pickle(case, project(snapshot, "2.12"), f"a random program: {name}")
            add_windows(folder, case, devices)
    for divisions in (2, 4, 8, 32):
        case = f"rounding-{divisions}"
        _, (snapshot, truth) = program(case, steps=120, divisions=[divisions] * 16)
        assert_truth(case, snapshot, truth)
        folder.good_pickle(case, project(snapshot, "2.9"), f"roundup_power2_divisions:{divisions}")
    uneven = [0] * 6 + [8, 0, 4] + [1] * 7
    _, (snapshot, truth) = program("rounding-list", steps=120, divisions=uneven)
    assert_truth("rounding-list", snapshot, truth)
    folder.good_pickle(
        "rounding-list", project(snapshot, "2.9"), "roundup_power2_divisions:[64:8,256:4,>:1]"
    )


def add_windows(folder, case, devices):
    """The same program where the recording starts late, or the ring buffer wrapped."""
    for keep_events in (1, 7, 40):
        firsts = [max(len(device.events) - keep_events, 0) for device in devices]
        snapshot, truth = snapshot_of(devices, firsts)
        actions = {event["action"] for trace in snapshot["device_traces"] for event in trace}
        if "free_requested" in actions or "free_completed" not in actions:
            assert_truth(f"{case} last {keep_events}", snapshot, truth)
        snapshot = project(snapshot, "2.14")
        snapshot["allocator_settings"].update(
            trace_alloc_max_entries=keep_events, trace_alloc_overflowed=True
        )
        folder.good_pickle(
            f"{case}-last-{keep_events}", snapshot, f"a ring buffer of {keep_events} entries"
        )


def add_ooms(folder):
    for later_steps in (0, 1, 5, 40):
        rng = random.Random(f"oom {later_steps}")
        device = run_program(rng, Device(0), 50, wait=0.3)
        device.oom(30 * MIB + 1, 12345, make_stacks(rng)[2])
        run_program(rng, device, later_steps)
        if later_steps == 5:
            device.oom(1 << 40, 0)
        snapshot, truth = snapshot_of([device])
        assert_truth(f"oom {later_steps}", snapshot, truth)
        folder.good_pickle(
            f"oom-then-{later_steps}",
            project(snapshot, "2.8"),
            f"out of memory, then {later_steps} steps",
        )
    first = Device(0)
    first.oom(1 << 45, 1 << 34)
    snapshot, truth = snapshot_of([first])
    assert_truth("oom only", snapshot, truth)
    folder.good_pickle("oom-only", project(snapshot, "2.8"), "nothing but a failed request")
    del snapshot["device_traces"][0][0]["device_free"]
    folder.good_pickle(
        "oom-without-device-free", project(snapshot, "2.8"), "the driver did not say"
    )


def add_states(folder):
    """Dumps without events, without segments, without anything."""
    devices, (snapshot, _) = program("state", devices=2, wait=0.5)
    full = project(snapshot, "2.8")
    state = dict(full, device_traces=[[], [], [], []])
    folder.good_pickle("state-only", state, "segments and no events, four device slots")
    folder.good_pickle("state-no-traces", {"segments": full["segments"]}, "no device_traces at all")
    folder.good_pickle("state-traces-empty", dict(full, device_traces=[]), "include_traces=False")
    folder.good_pickle(
        "traces-only", {"device_traces": full["device_traces"]}, "no segments at all"
    )
    folder.good_pickle("segments-empty", dict(full, segments=[]), "events, and nothing stands")
    folder.good_pickle("empty", {"segments": [], "device_traces": []}, "nothing was recorded")
    folder.good_json("empty", {"segments": [], "device_traces": []}, "nothing was recorded")
    folder.good_pickle(
        "empty-devices", {"segments": [], "device_traces": [[], []]}, "two silent devices"
    )
    folder.good_pickle(
        "bare-list-new", full["segments"], "a bare list of segments of a new release"
    )
    only_second = [dict(segment, device=5) for segment in full["segments"][:2]]
    folder.good_pickle(
        "device-5", dict(state, segments=only_second), "a segment beyond the traces' devices"
    )
    folder.good_pickle(
        "settings-null",
        dict(full, allocator_settings=None, external_annotations=None),
        "None where a dict or a list is usual",
    )
    extra = dict(
        full,
        new_top_level={"a": [1, None]},
        segments=[dict(s, novelty=(1, 2)) for s in full["segments"]],
    )
    extra["device_traces"] = [
        [dict(event, novelty=[1.5, {"x": None}]) for event in trace]
        for trace in full["device_traces"]
    ]
    folder.good_pickle("unknown-fields", extra, "fields of a release to come")
    odd = copy.deepcopy(full)
    for at, action in ((3, "teleport"), (5, "user_defined"), (9, "free")):
        odd["device_traces"][0].insert(at, {"action": action, "addr": 1, "size": 99, "stream": 0})
    folder.good_pickle("unknown-actions", odd, "actions of a release to come")
    backwards = copy.deepcopy(full)
    for segment in backwards["segments"]:
        segment["blocks"].reverse()
    backwards["segments"].reverse()
    folder.good_pickle(
        "order-reversed", backwards, "segments and blocks from high addresses to low"
    )
    per_device = copy.deepcopy(full)
    per_device["allocator_settings"].update(
        trace_alloc_max_entries=[9, 9], trace_alloc_overflowed=[True, False]
    )
    folder.good_pickle("overflow-per-device", per_device, "ring buffer facts by device")
    for key in (
        "allocated_size",
        "active_size",
        "requested_size",
        "segment_pool_id",
        "is_expandable",
        "frames",
        "segment_type",
        "stream",
    ):
        less = copy.deepcopy(full)
        for segment in less["segments"]:
            segment.pop(key)
        folder.good_pickle(f"segment-without-{key}", less, f"segments without {key}")


# --- Small hand-made traces


def add_contradictions(folder):
    a = event("alloc", 0, 1000)
    held = [block(0, 1024, requested=1000)]
    cases = {
        "alloc-over-live": ([a, event("alloc", 0, 700)], [block(0, 1024, requested=700)]),
        "double-free": (
            life(0, 1000) + life(0, 1000)[1:] + [event("alloc", 512, 400)],
            [block(0, 512, "inactive"), block(512, 512, requested=400)],
        ),
        "double-request": (
            [
                a,
                event("free_requested", 0, 1000),
                event("free_requested", 0, 1000),
                event("free_completed", 0, 1000),
            ],
            [],
        ),
        "free-other-size": (
            [a, event("free_requested", 0, 999), event("free_completed", 0, 999), a],
            held,
        ),
        "completed-unrequested": (
            [
                a,
                event("free_completed", 0, 1000),
                event("alloc", 4096, 10),
                event("free_requested", 4096, 10),
            ],
            [],
        ),
        "live-not-active": ([a, event("alloc", 1024, 5)], []),
        "active-but-freed": (life(0, 1000), held),
        "active-but-freed-before": (life(0, 1000)[1:], held),
        "live-other-size": ([a], [block(0, 1024, requested=900)]),
        "alloc-outside": ([event("alloc", 64 * MIB, 100), a], held),
        "blocks-overlap": ([a], held + [block(512, 1024)]),
        "blocks-too-few": ([a], held, 2 * MIB, True),
        "blocks-too-many": ([a], held + [block(1024, 4 * MIB)]),
        "block-outside": ([a], held + [block(1 << 40, 512)]),
        "segment-alloc-too-big": ([event("segment_alloc", 0, 1 << 40), a], held),
        "segment-alloc-later": ([a, event("segment_alloc", 0, 1 << 40)], held),
        "segment-free-unknown": ([a, event("segment_free", 1 << 30, 2 * MIB)], held),
        "snapshot-mismatch": (
            [a, {"action": "snapshot", "addr": 0, "size": 77, "stream": 0}],
            held,
        ),
    }
    for name, (events, blocks, *options) in cases.items():
        snapshot = tiny(events, blocks, *(options[:1] or [2 * MIB]), no_rest=len(options) > 1)
        skip = ["reserved_bytes"] if name == "segment-alloc-later" else []
        folder.good_pickle(
            f"contradiction-{name}", snapshot, f"the file contradicts itself: {name}", skip=skip
        )
    backwards = tiny(life(0, 1000) * 3, [])
    backwards["device_traces"][0][4]["time_us"] = 5
    folder.good_pickle("contradiction-time-backwards", backwards, "the clock steps back")
    twice = tiny([a], held)
    twice["segments"] *= 2
    folder.good_pickle(
        "contradiction-segment-twice",
        twice,
        "the same segment twice",
        skip=["by_stack", "peak", "start"],
    )


def add_corners(folder):
    completed_only = [
        event("alloc", 0, 1000),
        event("alloc", 1024, 50),
        event("free_completed", 0, 1000),
    ]
    cases = {
        "completed-only": (
            completed_only,
            [block(0, 1024, "inactive"), block(1024, 512, requested=50)],
        ),
        "one-completed": ([event("free_completed", 4096, 8)], [block(0, 1024, requested=1000)]),
        "one-requested": (
            [event("free_requested", 0, 1000)],
            [block(0, 1024, "active_pending_free", 1000)],
        ),
        "peak-is-start": (
            life(1024, 10)[:2] + [event("free_requested", 0, 1000), event("alloc", 2048, 990)],
            [
                block(0, 1024, "active_pending_free", 1000),
                block(1024, 512, "active_pending_free", 10),
                block(1536, 512, "inactive"),
                block(2048, 1024, requested=990),
            ],
        ),
        "peak-tie": (life(0, 1000) + life(0, 1000) + life(512, 1000), []),
        "peak-tie-with-start": (
            [
                event("free_requested", 0, 1000),
                event("free_completed", 0, 1000),
                event("alloc", 512, 1000),
            ],
            [block(0, 512, "inactive"), block(512, 1024, requested=1000)],
        ),
        "unsplit-at-end": ([event("alloc", 0, 1000)], [block(0, 2 * MIB, requested=1000)]),
        "unsplit-pending": (life(0, 1000)[:2], [block(0, 2 * MIB, "active_pending_free", 1000)]),
        "unsplit-forgotten": (life(0, 1000), []),
        "awaiting-spelling": ([], [block(0, 1024, "active_awaiting_free", 1000)]),
        "same-frames-other-fx": ([], []),
    }
    for name, (events, blocks) in cases.items():
        folder.good_pickle(f"corner-{name}", tiny(events, blocks), name)
    plain = {"filename": "a.py", "line": 1, "name": "f"}
    node = dict(plain, fx_node_op="call_function", fx_node_name="mm", fx_original_trace="...")
    folder.good_pickle(
        "corner-fx-frames",
        tiny(
            [event("alloc", 0, 100, frames=[plain]), event("alloc", 512, 50, frames=[node])],
            [block(0, 512, requested=100), block(512, 512, requested=50)],
        ),
        "stacks that differ in their fx fields only are one stack",
    )
    folder.good_pickle(
        "corner-ghost-frames",
        tiny(
            [event("free_requested", 512, 50, frames=[node, plain])],
            [
                block(0, 512, requested=100, frames=[plain]),
                block(512, 512, "active_pending_free", 50),
            ],
        ),
        "before the recording: the block's stack, or that of the free",
    )
    folder.good_pickle(
        "corner-missing-frames",
        tiny(
            [event("alloc", 0, 100), event("alloc", 512, 50, frames=[])],
            [block(0, 512, requested=100), block(512, 512, requested=50)],
        ),
        "no stack recorded and an empty one are the same",
    )
    deep = [dict(plain, line=line, name=f"f{line % 7}") for line in range(3000)]
    folder.good_pickle(
        "corner-deep-stacks",
        tiny(
            [event("alloc", 512 * i, 100 + i, frames=deep[i:]) for i in range(4)],
            [block(512 * i, 512, requested=100 + i) for i in range(4)],
        ),
        "stacks of 3000 frames",
    )
    folder.good_pickle(
        "corner-state-context",
        tiny([event("alloc", 0, 100)], [block(0, 512, requested=100, frames=[plain])]),
        "context='state': the block has a stack, its alloc has none; either is a fair answer",
        skip=["by_stack"],
    )
    shared = event("alloc", 0, 1000)
    same = tiny([], [block(0, 1024, requested=1000)])
    requested, completed = event("free_requested", 0, 1000), event("free_completed", 0, 1000)
    same["device_traces"] = [[shared, requested, completed, shared, requested, completed, shared]]
    folder.good_pickle("corner-shared-events", same, "the same event object several times")
    same = tiny([shared], [block(0, 1024, requested=1000)])
    same["device_traces"] *= 3
    folder.good_pickle("corner-shared-traces", same, "three devices share one trace object")
    for stream in (-1, 1 << 63, (1 << 64) - 1, 7):
        odd = tiny([dict(shared, stream=stream)], [block(0, 1024, requested=1000)])
        odd["segments"][0]["stream"] = stream
        folder.good_pickle(f"corner-stream-{stream & 0xffff}-{stream < 0}", odd, f"stream {stream}")
        folder.good_json(f"corner-stream-{stream & 0xffff}-{stream < 0}", odd, f"stream {stream}")
    high = tiny([], [])
    high["segments"][0]["address"] = (1 << 64) - 2 * MIB
    high["segments"][0]["blocks"] = [dict(block(0, 2 * MIB), address=(1 << 64) - 2 * MIB)]
    folder.good_pickle("corner-address-high", high, "a segment that ends at 2**64")
    legacy = tiny([event("alloc", 0, 1000)], [block(0, 1024)])
    for one in legacy["segments"][0]["blocks"]:
        del one["address"], one["requested_size"], one["frames"]
        one["history"] = []
    folder.good_pickle(
        "corner-empty-history", legacy, "2.0 blocks without a history: sizes are block sizes"
    )
    legacy = copy.deepcopy(legacy)
    legacy["segments"][0]["blocks"][0]["history"] = [
        {"addr": BASE, "real_size": 1000, "frames": [plain], "cpp_frames": ["at::empty", "main"]},
        {"addr": BASE, "real_size": 5, "frames": []},
    ]
    legacy["device_traces"] = [[]]
    folder.good_pickle("corner-two-histories", legacy, "2.0 blocks: the newest history counts")


HOSTILE_TEXT = {
    "control": "a\x00b\x01\x1b[31m\x7f\r\n\t",
    "html": "</script><img src=x onerror=alert(1)>&amp;'\"",
    "bidi": "\u202egnp.exe\u2066",
    "emoji": "🔥𝕏/é/e\u0301.py",
    "long": "x" * 70000,
    "quotes": '"\\\\"\\u0000\\',
    "format": "%s%n%x{0}",
    "separators": "a\u2028b\u2029c\u0085d",
    "empty": "",
    "replacement": "\ufffd\uffff\ufeff",
}


def add_texts(folder):
    for name, text in HOSTILE_TEXT.items():
        frame = {"filename": text, "line": 7, "name": text}
        snapshot = tiny(
            [
                event(
                    "alloc", 0, 100, frames=[frame, frame], user_metadata=text, compile_context=text
                )
            ],
            [block(0, 512, requested=100, frames=[frame])],
            allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": text},
            external_annotations=[{"name": text, "stage": "START", "device": 0, "time_us": 1}],
        )
        folder.good_pickle(f"text-{name}", snapshot, f"hostile text: {name}")
        folder.good_json(f"text-{name}", snapshot, f"hostile text: {name}")
    frame = {"filename": "lone \udcff surrogate \ud800", "line": 7, "name": "f"}
    lone = tiny([event("alloc", 0, 100, frames=[frame])], [block(0, 512, requested=100)])
    folder.good_pickle("text-surrogates", lone, "lone surrogates")
    folder.good_json("text-surrogates", lone, "lone surrogates, escaped")
    data = pickle.dumps(
        tiny([event("alloc", 0, 100, frames=[dict(frame, filename="\udcff??")])], []), 4
    )
    folder.add(
        "text-invalid-utf8.pickle",
        data.replace(b"\xed\xb3\xbf??", b"\xff\xfe\xc3??"),
        "robust",
        "invalid UTF-8 in a string",
    )
    frame = {"filename": b"raw\xff", "line": 7, "name": "f"}
    raw = tiny([event("alloc", 0, 100, frames=[frame])], [block(0, 512, requested=100)])
    folder.add("text-bytes.pickle", pickle.dumps(raw, 4), "robust", "bytes for a file name")
    text = json.dumps(
        tiny([event("alloc", 0, 100, frames=[dict(frame, filename="FILE")])], [])
    ).encode()
    folder.add(
        "text-invalid-utf8.json",
        text.replace(b"FILE", b"\xff\xfe\xc3"),
        "robust",
        "invalid UTF-8 in JSON",
    )


def add_all(folder):
    for add in (
        add_generations,
        add_encodings,
        add_programs,
        add_ooms,
        add_states,
        add_contradictions,
        add_corners,
        add_texts,
    ):
        add(folder)
