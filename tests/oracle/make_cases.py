#!/usr/bin/env python3
"""Writes small synthetic snapshots of every schema and every kind of trouble, with what to expect.

    make_cases.py FOLDER    always the same files for the same version of this script

FOLDER/manifest.json lists the cases:
    file    its name in FOLDER
    kind    good      inspect must print the figures in `expected` (computed by inspect_oracle.py)
            refused   a pickle that would import or call: exit status 3; `names` and `offset` say
                      what the one line on stderr must contain
            corrupt   exit status 3
            robust    anything but a crash, a hang or much memory: exit status 0 or 3
    why     what the case is there for
    skip    figures that are not compared

Good cases that the simulator made are also checked, here, against what the simulator knows.
"""

import copy
import gzip
import json
import os
import pickle
import random
import shutil
import subprocess
import sys

import pickle_forms
from allocator_sim import KIB, MIB, Device, snapshot_of
from inspect_oracle import inspect

GENERATIONS = ["1.x", "2.0", "2.1-dev", "2.1", "2.2", "2.3", "2.5", "2.8", "2.9", "2.10", "2.12", "2.14"]
AGE = {name: age for age, name in enumerate(GENERATIONS)}
POOLS = [(0, 0), (0, 1), (3, 0)]
STREAMS = [0, 0x55D0C0DE1000, (1 << 64) - 4096]


# --- Programs --------------------------------------------------------------------------------------


def make_stacks(rng, count=9, fx=False):
    """Stacks that share their frames, as PyTorch's do; the first is empty."""
    frames = [{"filename": f"/app/{place}.py", "line": 10 + i, "name": name}
              for i, (place, name) in enumerate(
                  [("train", "main"), ("model", "forward"), ("torch/nn/module", "_call_impl"),
                   ("attention", "scores"), ("optim", "step"), ("données/数据", "chargé")])]
    frames.append({"filename": "??", "line": 0, "name": "cudaMalloc"})
    if fx:
        frames.append({"filename": "<eval_with_key>.7", "line": 3, "name": "forward",
                       "fx_node_op": "call_function", "fx_node_name": "addmm",
                       "fx_original_trace": "File \"model.py\", line 3"})
    return [[]] + [rng.sample(frames, rng.randint(1, len(frames))) for _ in range(count)]


def random_size(rng):
    return rng.choice([
        lambda: rng.randint(1, 4 * KIB), lambda: rng.randint(1, 900 * KIB),
        lambda: rng.randint(MIB, 9 * MIB), lambda: rng.randint(10 * MIB, 40 * MIB),
        lambda: 512 * rng.randint(1, 64), lambda: 19 * MIB + rng.randint(0, MIB)])()


def run_program(rng, device, steps, *, streams=(0,), pools=((0, 0),), expandable=False, wait=0.0,
                empties=True, notes=False, fx=False, alloc_without_stack=False):
    """A random program: it allocates a little more than it frees."""
    stacks = make_stacks(rng, fx=fx)
    for _ in range(steps):
        doing = rng.random()
        if doing < 0.5 or not device.live:
            more = {}
            if notes and rng.random() < 0.3:
                more = {"compile_context": "Torch-Compiled Region: 0/0", "user_metadata": "phase é",
                        "forward_frames": ["/app/model.py:12:forward\n"], "category": "activation"}
            stack = None if alloc_without_stack else rng.choice(stacks)
            device.alloc(random_size(rng), stack, rng.choice(streams), rng.choice(pools), expandable, **more)
        elif doing < 0.9:
            device.free(rng.choice(list(device.live)), rng.choice(stacks), rng.random() < wait)
        elif doing < 0.95 and device.pending:
            device.complete(rng.choice(list(device.pending)))
        elif doing < 0.97 and empties:
            device.empty_cache(rng.choice(stacks))
        elif doing < 0.98:
            device.snapshot()
        elif notes and device.live:
            device.annotate(rng.choice(list(device.live)), "a tensor's name")
    return device


def program(seed, steps=60, devices=1, divisions=None, **features):
    """A snapshot of a random program on some devices and its truth."""
    rng = random.Random(seed)
    made = [run_program(rng, Device(i, divisions), steps, **features) for i in range(devices)]
    return made, snapshot_of(made)


# --- Schemas ---------------------------------------------------------------------------------------


def keep(record, names):
    return {name: record[name] for name in names if name in record}


def project(snapshot, generation):
    """The snapshot as an older release would have written it."""
    age = AGE[generation]

    def since(first, *names):
        return list(names) if age >= AGE[first] else []

    block_keys = since("2.1", "address") + ["size"] + since("2.1-dev", "requested_size") + ["state"]
    block_keys += ["history"] if generation in ("2.0", "2.1-dev") else since("2.1", "frames")
    segment_keys = (["device", "address", "total_size", "allocated_size", "active_size"]
                    + since("2.1-dev", "requested_size") + since("2.0", "stream") + ["segment_type"]
                    + since("2.1-dev", "segment_pool_id") + since("2.1", "is_expandable", "frames"))
    event_keys = (["action", "addr", "device_free", "size", "stream"] + since("2.2", "time_us")
                  + ["frames"] + since("2.8", "compile_context") + since("2.10", "user_metadata")
                  + since("2.12", "pool_id", "forward_frames", "category"))
    segments = [dict(keep(segment, segment_keys),
                     blocks=[keep(block, block_keys) for block in segment["blocks"]])
                for segment in snapshot["segments"]]
    if generation == "1.x":
        return segments
    result = {"segments": segments,
              "device_traces": [[keep(event, event_keys) for event in trace]
                                for trace in snapshot["device_traces"]]}
    if age >= AGE["2.3"]:
        result["allocator_settings"] = dict(snapshot["allocator_settings"])
        if age < AGE["2.9"]:
            del result["allocator_settings"]["graph_capture_record_stream_reuse"]
    if age >= AGE["2.5"]:
        result["external_annotations"] = [
            {"name": "## step é ##", "stage": stage, "device": 0, "time_us": time_us}
            for stage, time_us in (("START", 1_700_000_000_000_001), ("END", 1_700_000_000_000_900))]
    if age >= AGE["2.14"]:
        result["host_segments"] = [{"device": -1, "address": 4096, "total_size": 8192, "stream": 0,
                                    "segment_type": "small", "blocks": [
                                        {"address": 4096, "size": 8192, "requested_size": 8000,
                                         "state": "active_allocated", "frames": []}]}]
        result["host_traces"] = [[{"action": "alloc", "addr": 4096, "size": 8000, "stream": 0,
                                   "time_us": 1_700_000_000_000_002}]]
    return result


def shuffled(value, rng):
    """The same value with the keys of every dict in another order; sharing is kept."""
    memo = {}

    def walk(one):
        if id(one) in memo:
            return memo[id(one)][1]
        if isinstance(one, dict):
            keys = list(one)
            rng.shuffle(keys)
            new = {key: walk(one[key]) for key in keys}
        elif isinstance(one, (list, tuple)):
            new = type(one)(walk(item) for item in one)
        else:
            return one
        memo[id(one)] = (one, new)
        return new

    return walk(value)


def unshared(value):
    """A copy in which no two places hold the same object."""
    if isinstance(value, dict):
        return {key: unshared(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(unshared(item) for item in value)
    return value


def as_floats(value):
    """Every int that a double holds exactly becomes one, as tools that only know doubles write."""
    if isinstance(value, dict):
        return {key: as_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_floats(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return float(value)
    return value


# --- Checking the oracle against the simulator -----------------------------------------------------


def assert_truth(name, snapshot, truth):
    """The oracle must find in the snapshot what the simulator knows to be true."""
    figures, _ = inspect(snapshot)
    assert [device["device"] for device in figures["devices"]] == sorted(truth), name
    for device in figures["devices"]:
        true = truth[device["device"]]
        end, peak = device["end"], device["peak"]
        found = (device["start"]["requested_bytes"], peak["requested_bytes"], peak["live_count"],
                 peak["event"], peak["reserved_bytes"], end["requested_bytes"], end["allocated_bytes"],
                 end["active_bytes"], end["reserved_bytes"],
                 [(oom["event"], oom["live_requested_bytes"]) for oom in device["ooms"]])
        known = (true["start"], true["peak"].requested, true["peak"].live_count, true["event"],
                 true["peak"].reserved, true["end"].requested, true["end"].allocated,
                 true["end"].active, true["end"].reserved, true["ooms"])
        assert found == known, f"{name}: found {found}, true {known}"
        assert peak["requested_bytes"] == sum(group["bytes"] for group in peak["by_stack"]), name
        assert peak["allocated_bytes"] == true["peak_allocated"] <= true["peak"].allocated, name


# --- The folder ------------------------------------------------------------------------------------


class Folder:
    def __init__(self, path):
        self.path = path
        self.cases = []
        os.makedirs(path, exist_ok=True)

    def add(self, file, data, kind, why, **more):
        with open(os.path.join(self.path, file), "wb") as out:
            out.write(data)
        self.cases.append({"file": file, "kind": kind, "why": why, **more})

    def good(self, file, data, snapshot, why, **more):
        """A case whose figures are those of `snapshot`, through JSON so that it stands alone."""
        figures, _ = inspect(snapshot)
        self.add(file, data, "good", why, expected=figures, **more)

    def good_pickle(self, name, snapshot, why, protocol=4, **more):
        self.good(name + ".pickle", pickle.dumps(snapshot, protocol), snapshot, why, **more)

    def good_json(self, name, snapshot, why, **more):
        self.good(name + ".json", json.dumps(snapshot).encode(), snapshot, why, **more)

    def write_manifest(self):
        with open(os.path.join(self.path, "manifest.json"), "w", encoding="ascii") as out:
            json.dump(self.cases, out)


def zstd(data):
    """The data compressed, or None without the zstd command."""
    if not shutil.which("zstd"):
        return None
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


# --- Good cases: schemas, encodings ----------------------------------------------------------------


def add_generations(folder):
    for generation in GENERATIONS:
        expandable = AGE[generation] >= AGE["2.1"]
        _, (newest, truth) = program(f"generation {generation}", streams=STREAMS, wait=0.3,
                                     pools=POOLS, expandable=expandable,
                                     notes=AGE[generation] >= AGE["2.14"],
                                     fx=AGE[generation] >= AGE["2.10"])
        snapshot = project(newest, generation)
        if generation != "1.x":
            assert_truth(generation, snapshot, truth)
        folder.good_pickle(f"generation-{generation}", snapshot, f"as PyTorch {generation} writes it")
        folder.good_json(f"generation-{generation}", snapshot, f"PyTorch {generation}, as JSON")
        folder.good_pickle(f"generation-{generation}-cpp", snapshot, "as the C++ pickler writes it", 2)


def add_encodings(folder):
    rng = random.Random("encodings")
    _, (newest, truth) = program("encodings", devices=2, streams=STREAMS, pools=POOLS, wait=0.3,
                                 notes=True, fx=True)
    snapshot = project(newest, "2.14")
    assert_truth("encodings", snapshot, truth)
    for protocol in range(6):
        folder.good_pickle(f"protocol-{protocol}", snapshot, f"pickle protocol {protocol}", protocol)
        for variant in range(4):
            folder.good(f"opcodes-{protocol}-{variant}.pickle",
                        pickle_forms.encode(snapshot, rng, protocol), snapshot,
                        f"protocol {protocol} with opcodes that pickle.dumps does not choose")
    pickled, text = pickle.dumps(snapshot, 4), json.dumps(snapshot).encode()
    folder.good("pickle-named.json", pickled, snapshot, "a pickle under the name of JSON")
    folder.good("json-named.pickle", text, snapshot, "JSON under the name of a pickle")
    folder.good("no-extension", pickled, snapshot, "a name that says nothing")
    for name, data in (("pickle", pickled), ("json", text)):
        folder.good(f"plain.{name}.gz", gzip.compress(data, mtime=0), snapshot, "gzip")
        folder.good(f"members.{name}.gz", gzip.compress(data[:99], mtime=0) + gzip.compress(data[99:], mtime=0),
                    snapshot, "gzip in two members")
        folder.good(f"gzip-named.{name}", gzip.compress(data, mtime=0), snapshot, "gzip without .gz")
        if zstd(data):
            folder.good(f"plain.{name}.zst", zstd(data), snapshot, "zstd")
            folder.good(f"frames.{name}.zst", zstd(data[:99]) + zstd(data[99:]), snapshot, "zstd in two frames")
    folder.good("indented.json", json.dumps(snapshot, indent=2).encode(), snapshot, "JSON with white space")
    folder.good("utf8.json", json.dumps(snapshot, ensure_ascii=False).encode(), snapshot, "JSON in UTF-8")
    folder.good("floats.json", json.dumps(as_floats(snapshot)).encode(), snapshot, "ints written as 512.0")
    folder.good_pickle("floats", as_floats(snapshot), "ints as floats")
    for i in range(4):
        mixed = shuffled(snapshot, rng)
        folder.good_pickle(f"shuffled-{i}", mixed, "keys in another order")
        folder.good_json(f"shuffled-{i}", mixed, "keys in another order")
    folder.good_pickle("traces-first", dict(reversed(list(snapshot.items()))), "device_traces before segments")
    folder.good_pickle("unshared", unshared(snapshot), "no object is shared", 4)
    fresh = pickle.dumps(unshared(snapshot), 2)
    folder.good("unshared-2.pickle", fresh, snapshot, "no object is shared")
    tuples = dict(snapshot, device_traces=tuple(tuple(trace) for trace in snapshot["device_traces"]),
                  segments=tuple(snapshot["segments"]))
    folder.good_pickle("tuples", tuples, "tuples where lists are usual")


# --- Good cases: what recordings contain -----------------------------------------------------------


def add_programs(folder):
    features = {
        "plain": {}, "streams": dict(streams=STREAMS, wait=0.6), "pools": dict(pools=POOLS),
        "expandable": dict(expandable=True, wait=0.2), "devices": dict(devices=3, wait=0.3),
        "everything": dict(streams=STREAMS, pools=POOLS, expandable=True, wait=0.5, notes=True, fx=True),
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
    folder.good_pickle("rounding-list", project(snapshot, "2.9"), "roundup_power2_divisions:[64:8,256:4,>:1]")


def add_windows(folder, case, devices):
    """The same program where the recording starts late, or the ring buffer wrapped."""
    for keep_events in (1, 7, 40):
        firsts = [max(len(device.events) - keep_events, 0) for device in devices]
        snapshot, truth = snapshot_of(devices, firsts)
        actions = {event["action"] for trace in snapshot["device_traces"] for event in trace}
        if "free_requested" in actions or "free_completed" not in actions:
            assert_truth(f"{case} last {keep_events}", snapshot, truth)
        snapshot = project(snapshot, "2.14")
        snapshot["allocator_settings"].update(trace_alloc_max_entries=keep_events, trace_alloc_overflowed=True)
        folder.good_pickle(f"{case}-last-{keep_events}", snapshot, f"a ring buffer of {keep_events} entries")


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
        folder.good_pickle(f"oom-then-{later_steps}", project(snapshot, "2.8"),
                           f"out of memory, then {later_steps} steps")
    first = Device(0)
    first.oom(1 << 45, 1 << 34)
    snapshot, truth = snapshot_of([first])
    assert_truth("oom only", snapshot, truth)
    folder.good_pickle("oom-only", project(snapshot, "2.8"), "nothing but a failed request")
    del snapshot["device_traces"][0][0]["device_free"]
    folder.good_pickle("oom-without-device-free", project(snapshot, "2.8"), "the driver did not say")


def add_states(folder):
    """Dumps without events, without segments, without anything."""
    devices, (snapshot, _) = program("state", devices=2, wait=0.5)
    full = project(snapshot, "2.8")
    state = dict(full, device_traces=[[], [], [], []])
    folder.good_pickle("state-only", state, "segments and no events, four device slots")
    folder.good_pickle("state-no-traces", {"segments": full["segments"]}, "no device_traces at all")
    folder.good_pickle("state-traces-empty", dict(full, device_traces=[]), "include_traces=False")
    folder.good_pickle("traces-only", {"device_traces": full["device_traces"]}, "no segments at all")
    folder.good_pickle("segments-empty", dict(full, segments=[]), "events, and nothing stands")
    folder.good_pickle("empty", {"segments": [], "device_traces": []}, "nothing was recorded")
    folder.good_json("empty", {"segments": [], "device_traces": []}, "nothing was recorded")
    folder.good_pickle("empty-devices", {"segments": [], "device_traces": [[], []]}, "two silent devices")
    folder.good_pickle("bare-list-new", full["segments"], "a bare list of segments of a new release")
    only_second = [dict(segment, device=5) for segment in full["segments"][:2]]
    folder.good_pickle("device-5", dict(state, segments=only_second), "a segment beyond the traces' devices")
    folder.good_pickle("settings-null", dict(full, allocator_settings=None, external_annotations=None),
                       "None where a dict or a list is usual")
    extra = dict(full, new_top_level={"a": [1, None]}, segments=[dict(s, novelty=(1, 2)) for s in full["segments"]])
    extra["device_traces"] = [[dict(event, novelty=[1.5, {"x": None}]) for event in trace]
                              for trace in full["device_traces"]]
    folder.good_pickle("unknown-fields", extra, "fields of a release to come")
    odd = copy.deepcopy(full)
    for at, action in ((3, "teleport"), (5, "user_defined"), (9, "free")):
        odd["device_traces"][0].insert(at, {"action": action, "addr": 1, "size": 99, "stream": 0})
    folder.good_pickle("unknown-actions", odd, "actions of a release to come")
    backwards = copy.deepcopy(full)
    for segment in backwards["segments"]:
        segment["blocks"].reverse()
    backwards["segments"].reverse()
    folder.good_pickle("order-reversed", backwards, "segments and blocks from high addresses to low")
    per_device = copy.deepcopy(full)
    per_device["allocator_settings"].update(trace_alloc_max_entries=[9, 9], trace_alloc_overflowed=[True, False])
    folder.good_pickle("overflow-per-device", per_device, "ring buffer facts by device")
    for key in ("allocated_size", "active_size", "requested_size", "segment_pool_id", "is_expandable", "frames",
                "segment_type", "stream"):
        less = copy.deepcopy(full)
        for segment in less["segments"]:
            segment.pop(key)
        folder.good_pickle(f"segment-without-{key}", less, f"segments without {key}")


# --- Good cases: small hand-made traces -------------------------------------------------------------

BASE = 0x7F2000000000


def event(action, offset=0, size=0, **more):
    return {"action": action, "addr": BASE + offset, "size": size, "stream": 0, **more}


def life(offset, size):
    return [event("alloc", offset, size), event("free_requested", offset, size),
            event("free_completed", offset, size)]


def block(offset, size, state="active_allocated", requested=None, **more):
    return {"address": BASE + offset, "size": size, "state": state, "frames": [],
            "requested_size": size if requested is None else requested, **more}


def tiny(events, blocks, total=2 * MIB, **more):
    """One device, one segment; what the blocks leave of it is free."""
    used = sum(one["size"] for one in blocks)
    rest = [block(used, total - used, "inactive")] if used < total and not more.pop("no_rest", False) else []
    return {"segments": [{"device": 0, "address": BASE, "total_size": total, "stream": 0,
                          "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False,
                          "frames": [], "blocks": blocks + rest}],
            "device_traces": [[dict(one, time_us=1000 + 10 * i) for i, one in enumerate(events)]], **more}


def add_contradictions(folder):
    a = event("alloc", 0, 1000)
    held = [block(0, 1024, requested=1000)]
    cases = {
        "alloc-over-live": ([a, event("alloc", 0, 700)], [block(0, 1024, requested=700)]),
        "double-free": (life(0, 1000) + life(0, 1000)[1:] + [event("alloc", 512, 400)], [block(0, 512, "inactive"), block(512, 512, requested=400)]),
        "double-request": ([a, event("free_requested", 0, 1000), event("free_requested", 0, 1000),
                            event("free_completed", 0, 1000)], []),
        "free-other-size": ([a, event("free_requested", 0, 999), event("free_completed", 0, 999), a], held),
        "completed-unrequested": ([a, event("free_completed", 0, 1000), event("alloc", 4096, 10), event("free_requested", 4096, 10)], []),
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
        "snapshot-mismatch": ([a, {"action": "snapshot", "addr": 0, "size": 77, "stream": 0}], held),
    }
    for name, (events, blocks, *options) in cases.items():
        snapshot = tiny(events, blocks, *(options[:1] or [2 * MIB]), no_rest=len(options) > 1)
        skip = ["reserved_bytes"] if name == "segment-alloc-later" else []
        folder.good_pickle(f"contradiction-{name}", snapshot, f"the file contradicts itself: {name}", skip=skip)
    backwards = tiny(life(0, 1000) * 3, [])
    backwards["device_traces"][0][4]["time_us"] = 5
    folder.good_pickle("contradiction-time-backwards", backwards, "the clock steps back")
    twice = tiny([a], held)
    twice["segments"] *= 2
    folder.good_pickle("contradiction-segment-twice", twice, "the same segment twice", skip=["by_stack", "peak", "start"])


def add_corners(folder):
    completed_only = [event("alloc", 0, 1000), event("alloc", 1024, 50), event("free_completed", 0, 1000)]
    cases = {
        "completed-only": (completed_only, [block(0, 1024, "inactive"), block(1024, 512, requested=50)]),
        "one-completed": ([event("free_completed", 4096, 8)], [block(0, 1024, requested=1000)]),
        "one-requested": ([event("free_requested", 0, 1000)], [block(0, 1024, "active_pending_free", 1000)]),
        "peak-is-start": (life(1024, 10)[:2] + [event("free_requested", 0, 1000), event("alloc", 2048, 990)],
                          [block(0, 1024, "active_pending_free", 1000), block(1024, 512, "active_pending_free", 10),
                           block(1536, 512, "inactive"), block(2048, 1024, requested=990)]),
        "peak-tie": (life(0, 1000) + life(0, 1000) + life(512, 1000), []),
        "peak-tie-with-start": ([event("free_requested", 0, 1000), event("free_completed", 0, 1000),
                                 event("alloc", 512, 1000)], [block(0, 512, "inactive"), block(512, 1024, requested=1000)]),
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
    folder.good_pickle("corner-fx-frames", tiny([event("alloc", 0, 100, frames=[plain]),
                                                 event("alloc", 512, 50, frames=[node])],
                                                [block(0, 512, requested=100), block(512, 512, requested=50)]),
                       "stacks that differ in their fx fields only are one stack")
    folder.good_pickle("corner-ghost-frames", tiny([event("free_requested", 512, 50, frames=[node, plain])],
                                                   [block(0, 512, requested=100, frames=[plain]),
                                                    block(512, 512, "active_pending_free", 50)]),
                       "before the recording: the block's stack, or that of the free")
    folder.good_pickle("corner-missing-frames", tiny([event("alloc", 0, 100), event("alloc", 512, 50, frames=[])],
                                                     [block(0, 512, requested=100), block(512, 512, requested=50)]),
                       "no stack recorded and an empty one are the same")
    deep = [dict(plain, line=line, name=f"f{line % 7}") for line in range(3000)]
    folder.good_pickle("corner-deep-stacks", tiny(
        [event("alloc", 512 * i, 100, frames=deep[i:]) for i in range(4)],
        [block(512 * i, 512, requested=100) for i in range(4)]), "stacks of 3000 frames")
    folder.good_pickle("corner-state-context", tiny(
        [event("alloc", 0, 100)], [block(0, 512, requested=100, frames=[plain])]),
        "context='state': the block has a stack, its alloc has none; either is a fair answer", skip=["by_stack"])
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
    folder.good_pickle("corner-empty-history", legacy, "2.0 blocks without a history: sizes are block sizes")
    legacy = copy.deepcopy(legacy)
    legacy["segments"][0]["blocks"][0]["history"] = [
        {"addr": BASE, "real_size": 1000, "frames": [plain], "cpp_frames": ["at::empty", "main"]},
        {"addr": BASE, "real_size": 5, "frames": []}]
    legacy["device_traces"] = [[]]
    folder.good_pickle("corner-two-histories", legacy, "2.0 blocks: the newest history counts")


HOSTILE_TEXT = {
    "control": "a\x00b\x01\x1b[31m\x7f\r\n\t", "html": "</script><img src=x onerror=alert(1)>&amp;'\"",
    "bidi": "\u202egnp.exe\u2066", "emoji": "🔥𝕏/é/e\u0301.py", "long": "x" * 70000, "quotes": "\"\\\\\"\\u0000\\",
    "format": "%s%n%x{0}", "separators": "a\u2028b\u2029c\u0085d", "empty": "", "replacement": "\ufffd\uffff\ufeff",
}


def add_texts(folder):
    for name, text in HOSTILE_TEXT.items():
        frame = {"filename": text, "line": 7, "name": text}
        snapshot = tiny([event("alloc", 0, 100, frames=[frame, frame], user_metadata=text, compile_context=text)],
                        [block(0, 512, requested=100, frames=[frame])],
                        allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": text}, external_annotations=[
                            {"name": text, "stage": "START", "device": 0, "time_us": 1}])
        folder.good_pickle(f"text-{name}", snapshot, f"hostile text: {name}")
        folder.good_json(f"text-{name}", snapshot, f"hostile text: {name}")
    frame = {"filename": "lone \udcff surrogate \ud800", "line": 7, "name": "f"}
    lone = tiny([event("alloc", 0, 100, frames=[frame])], [block(0, 512, requested=100)])
    folder.good_pickle("text-surrogates", lone, "lone surrogates")
    folder.good_json("text-surrogates", lone, "lone surrogates, escaped")
    data = pickle.dumps(tiny([event("alloc", 0, 100, frames=[dict(frame, filename="\udcff??")])], []), 4)
    folder.add("text-invalid-utf8.pickle", data.replace(b"\xed\xb3\xbf??", b"\xff\xfe\xc3??"), "robust", "invalid UTF-8 in a string")
    frame = {"filename": b"raw\xff", "line": 7, "name": "f"}
    raw = tiny([event("alloc", 0, 100, frames=[frame])], [block(0, 512, requested=100)])
    folder.add("text-bytes.pickle", pickle.dumps(raw, 4), "robust", "bytes for a file name")
    text = json.dumps(tiny([event("alloc", 0, 100, frames=[dict(frame, filename="FILE")])], [])).encode()
    folder.add("text-invalid-utf8.json", text.replace(b"FILE", b"\xff\xfe\xc3"), "robust", "invalid UTF-8 in JSON")


# --- Refused, corrupt and merely wrong --------------------------------------------------------------


def rich():
    """A small snapshot that has every field."""
    frame = {"filename": "a.py", "line": 1, "name": "f", "fx_node_op": "call", "fx_node_name": "n"}
    snapshot = tiny([event("alloc", 0, 100, frames=[frame], compile_context="N/A", user_metadata="m",
                           pool_id=(0, 0), forward_frames=["g"], category="x"),
                     {"action": "oom", "device_free": 5, "size": 512, "stream": 0, "frames": [frame]},
                     event("free_requested", 0, 100), event("free_completed", 0, 100)],
                    [block(0, 512, requested=100, frames=[frame])])
    snapshot["segments"][0].update(allocated_size=512, active_size=512, requested_size=100, frames=[frame])
    snapshot["segments"][0]["blocks"][0]["history"] = [{"addr": BASE, "real_size": 100, "frames": [frame]}]
    snapshot["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                      "roundup_power2_divisions": {"1": 0, "2": 4}, "expandable_segments": False}
    snapshot["external_annotations"] = [{"name": "s", "stage": "START", "device": 0, "time_us": 1}]
    snapshot["host_segments"] = [{"device": -1, "address": 1, "total_size": 2, "blocks": []}]
    snapshot["host_traces"] = [[event("alloc", 0, 5)]]
    return snapshot


def paths_of(value, path=()):
    """Every place of a value, each dict of a list's kind once."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths_of(value[key], path + (key,))
    elif isinstance(value, (list, tuple)):
        for index in range(min(len(value), 2)):
            yield from paths_of(value[index], path + (index,))


def replaced(value, path, new):
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {key: replaced(item, rest, new) if key == head else item for key, item in value.items()}
    return type(value)(replaced(item, rest, new) if i == head else item for i, item in enumerate(value))


WRONG = [None, -1, 1.5, float("nan"), 1e300, "x", "", True, [], {}, [[]], [{}], {"a": {}}, (), 1 << 63, -(1 << 63), 1 << 70]


def add_wrong_types(folder):
    snapshot = rich()
    for number, path in enumerate(paths_of(snapshot)):
        for index, wrong in enumerate(WRONG):
            if (number + index) % 3 and len(path) > 2:
                continue
            bad, place = replaced(snapshot, path, wrong), ".".join(map(str, path)) or "top"
            why = f"{place} is {wrong!r}"
            if index % 2:
                folder.add(f"wrong-{number}-{index}.json", json.dumps(bad).encode(), "robust", why)
            else:
                folder.add(f"wrong-{number}-{index}.pickle", pickle.dumps(bad, 4), "robust", why)
        missing = path and isinstance(path[-1], str)
        if missing:
            cut = copy.deepcopy(snapshot)
            holder = cut
            for step in path[:-1]:
                holder = holder[step]
            if isinstance(holder, dict) and path[-1] in holder:
                del holder[path[-1]]
                folder.add(f"missing-{number}.pickle", pickle.dumps(cut, 4), "robust", f"{'.'.join(map(str, path))} is missing")
    for index, key in enumerate([1, None, (1, 2), 1.5, True, b"segments"]):
        folder.add(f"wrong-key-{index}.pickle", pickle.dumps({**snapshot, key: 1}, 4), "robust", f"{key!r} as a key")
        swapped = dict(snapshot, device_traces=[[{key: 1, "action": "alloc"}]])
        folder.add(f"wrong-event-key-{index}.pickle", pickle.dumps(swapped, 4), "robust", f"{key!r} as a key of an event")


def add_hostile(folder):
    _, (newest, _) = program("hostile", steps=10)
    for hostile in pickle_forms.hostile_pickles(project(newest, "2.9")):
        folder.add(f"hostile-{hostile.name}.pickle", hostile.data, "refused", hostile.why,
                   names=hostile.names, offset=hostile.offset)
    folder.add("hostile-in-gzip.pickle.gz", gzip.compress(b"cos\nsystem\n(S'true'\ntR.", mtime=0), "refused",
               "GLOBAL under gzip", names=["os", "system"], offset=0)


def add_broken(folder):
    for name, data, why in pickle_forms.broken_pickles():
        kind = "robust" if name in ("deep-list", "deep-tuple") else "corrupt"  # a list, if an odd one
        folder.add(f"broken-{name}.pickle", data, kind, why)
    smallest = {"segments": [], "device_traces": [[{"action": "alloc", "addr": 512, "size": 5, "stream": 0}]]}
    for protocol in (0, 2, 4):
        data = pickle.dumps(smallest, protocol)
        for length in range(1, len(data)):
            folder.add(f"cut-{protocol}-{length}.pickle", data[:length], "corrupt", f"cut after {length} bytes")
    text = json.dumps(smallest).encode()
    for length in range(1, len(text)):
        folder.add(f"cut-{length}.json", text[:length], "corrupt", f"cut after {length} bytes")
    for name, packed in (("gz", gzip.compress(text * 20, mtime=0)), ("zst", zstd(text * 20))):
        for length in range(1, len(packed or b""), 5):
            folder.add(f"cut-{length}.json.{name}", packed[:length], "corrupt", f"cut after {length} bytes")
    flipped = bytearray(gzip.compress(text, mtime=0))
    flipped[-6] ^= 1
    folder.add("checksum.json.gz", bytes(flipped), "corrupt", "gzip with a wrong checksum")
    for name, bad in {"comma": b'{"segments":[],}', "quotes": b"{'segments':[]}", "number": b"17", "string": b'"x"',
                      "nothing": b"null", "unclosed": b'{"segments":[', "control": b'{"segments":["\n"]}',
                      "escape": b'{"segments":["\\x"]}', "deep-open": b"[" * 1000000,
                      "deep-object": b'{"a":' * 1000000, "two": b"{}{}", "number-form": b'{"segments":[],"device_traces":[],"a":01}',
                      "bare-word": b'{"segments":[],"device_traces":[],"a":undefined}'}.items():
        folder.add(f"broken-{name}.json", bad, "corrupt", f"JSON: {name}")


def add_bombs(folder):
    """Files that claim or unfold to far more than they hold; status 0 or 3, but soon and in little memory."""
    empty = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]X\x01\0\0\0a"
    bombs = {
        "doubling": empty + pickle_forms.doubled_list(60)[2:-1] + b"u.",
        "put-4e9": empty + b"Nr\xff\xff\xff\xffu.",
        "put-4e9-text": empty + b"Np4294967295\nu.",
        "put-1e30": empty + b"Np1" + b"0" * 30 + b"\nu.",
        "deep-unknown": empty + b"]" * 1000000 + b"a" * 999999 + b"u.",
        "deep-tuple": empty + b")" + b"\x85" * 1000000 + b"u.",
        "deep-dict": empty + b"}" + b"X\x01\0\0\0k}" * 200000 + b"s" * 200000 + b"u.",
        "self-containing": empty + b"]q\x05h\x05au.",
        "self-containing-trace": b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]q\x05h\x05au.",
        "self-containing-frames": b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](}q\x05(X\x06\0\0\0action"
                                  b"X\x05\0\0\0allocX\x06\0\0\0frames]q\x06h\x06aueeu.",
        "million-digits": empty + b"L" + b"9" * 1000000 + b"L\nu.",
        "million-byte-int": empty + b"\x8b\x40\x42\x0f\0" + b"\x7f" * 1000000 + b"u.",
        "many-marks": empty + b"(" * 300000 + b"1" * 300000 + b"Nu.",
        "trailing-zeros": pickle.dumps(rich(), 4) + b"\0\0",
        "trailing-garbage": pickle.dumps(rich(), 4) + b"cos\nsystem\n",
    }
    for name, data in bombs.items():
        folder.add(f"bomb-{name}.pickle", data, "robust", f"a bomb: {name}")
    one = {"action": "alloc", "addr": 512, "size": 5, "stream": 0}
    trace = [one] * 10000
    shared = {"segments": [], "device_traces": [trace] * 10000}
    folder.add("bomb-shared-traces.pickle", pickle.dumps(shared, 4), "robust", "40 KB that name 10**8 events")
    frames = [{"filename": "a.py", "line": 1, "name": "f"}] * 10000
    wide = {"segments": [], "device_traces": [[dict(one, frames=frames)] * 10000]}
    folder.add("bomb-shared-frames.pickle", pickle.dumps(wide, 4), "robust", "40 KB that name 10**8 frames")
    lists = {"segments": [], "device_traces": [[dict(one, frames=list(frames[:100] + [dict(frames[0], line=i)])) for i in range(1000)]]}
    folder.add("bomb-many-stacks.pickle", pickle.dumps(lists, 4), "robust", "10**5 frame references over 1000 stacks")
    blank = gzip.compress(b" " * MIB, mtime=0) * 400
    folder.add("bomb-blank.json.gz", blank + gzip.compress(b'{"segments":[],"device_traces":[]}', mtime=0),
               "robust", "400 MiB of blanks in 400 KB")
    folder.add("bomb-zeros.gz", gzip.compress(b"\0" * MIB, mtime=0) * 400, "corrupt", "400 MiB of zeros in 400 KB")
    text = b'{"segments":[],"device_traces":[],"a":'
    folder.add("bomb-deep.json", text + b"[" * 500000 + b"]" * 500000 + b"}", "robust", "JSON half a million deep")
    folder.add("bomb-digits.json", text + b"9" * 1000000 + b"}", "robust", "a number of a million digits")
    folder.add("bomb-exponent.json", text + b"1e999999999}", "robust", "a number beyond doubles")
    folder.add("bomb-duplicate-keys.json", b'{' + b'"segments":[],' * 20000 + b'"device_traces":[]}', "robust",
               "20,000 times the same key")


def add_mutations(folder):
    _, (newest, _) = program("mutations", steps=12, wait=0.3)
    rng = random.Random("mutations")
    snapshot = project(newest, "2.12")
    for name, data in (("pickle", pickle.dumps(snapshot, 4)), ("pickle", pickle.dumps(snapshot, 0)),
                       ("json", json.dumps(snapshot).encode())):
        for _ in range(60):
            mutant = bytearray(data)
            for _ in range(rng.randint(1, 6)):
                mutant[rng.randrange(len(mutant))] = rng.randrange(256)
            folder.add(f"mutant-{len(folder.cases)}.{name}", bytes(mutant), "robust", "some bytes changed")


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Folder(arguments[0])
    for add in (add_generations, add_encodings, add_programs, add_ooms, add_states, add_contradictions, add_corners,
                add_texts, add_hostile, add_broken, add_bombs, add_wrong_types, add_mutations):
        add(folder)
    folder.write_manifest()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
