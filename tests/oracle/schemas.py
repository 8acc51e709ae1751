"""Snapshots of random programs, in the schema of every release that PyTorch has had."""

import random

from allocator_sim import KIB, MIB, Device, snapshot_of

GENERATIONS = [
    "1.x",
    "2.0",
    "2.1-dev",
    "2.1",
    "2.2",
    "2.3",
    "2.5",
    "2.8",
    "2.9",
    "2.10",
    "2.12",
    "2.14",
]
AGE = {name: age for age, name in enumerate(GENERATIONS)}
POOLS = [(0, 0), (0, 1), (3, 0)]
STREAMS = [0, 0x55D0C0DE1000, (1 << 64) - 4096]


def make_stacks(rng, count=9, fx=False):
    """Stacks that share their frames, as PyTorch's do; the first is empty."""
    frames = [
        {"filename": f"/app/{place}.py", "line": 10 + i, "name": name}
        for i, (place, name) in enumerate(
            [
                ("train", "main"),
                ("model", "forward"),
                ("torch/nn/module", "_call_impl"),
                ("attention", "scores"),
                ("optim", "step"),
                ("données/数据", "chargé"),
            ]
        )
    ]
    frames.append({"filename": "??", "line": 0, "name": "cudaMalloc"})
    if fx:
        frames.append(
            {
                "filename": "<eval_with_key>.7",
                "line": 3,
                "name": "forward",
                "fx_node_op": "call_function",
                "fx_node_name": "addmm",
                "fx_original_trace": 'File "model.py", line 3',
            }
        )
    return [[]] + [rng.sample(frames, rng.randint(1, len(frames))) for _ in range(count)]


def random_size(rng):
    return rng.choice(
        [
            lambda: rng.randint(1, 4 * KIB),
            lambda: rng.randint(1, 900 * KIB),
            lambda: rng.randint(MIB, 9 * MIB),
            lambda: rng.randint(10 * MIB, 40 * MIB),
            lambda: 512 * rng.randint(1, 64),
            lambda: 19 * MIB + rng.randint(0, MIB),
        ]
    )()


def run_program(
    rng,
    device,
    steps,
    *,
    streams=(0,),
    pools=((0, 0),),
    expandable=False,
    wait=0.0,
    empties=True,
    notes=False,
    fx=False,
    alloc_without_stack=False,
):
    """A random program: it allocates a little more than it frees."""
    stacks = make_stacks(rng, fx=fx)
    for _ in range(steps):
        doing = rng.random()
        if doing < 0.5 or not device.live:
            more = {}
            if notes and rng.random() < 0.3:
                more = {
                    "compile_context": "Torch-Compiled Region: 0/0",
                    "user_metadata": "phase é",
                    "forward_frames": ["/app/model.py:12:forward\n"],
                    "category": "activation",
                }
            stack = None if alloc_without_stack else rng.choice(stacks)
            device.alloc(
                random_size(rng), stack, rng.choice(streams), rng.choice(pools), expandable, **more
            )
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


def keep(record, names):
    return {name: record[name] for name in names if name in record}


def project(snapshot, generation):
    """The snapshot as an older release would have written it."""
    age = AGE[generation]

    def since(first, *names):
        return list(names) if age >= AGE[first] else []

    block_keys = since("2.1", "address") + ["size"] + since("2.1-dev", "requested_size") + ["state"]
    block_keys += ["history"] if generation in ("2.0", "2.1-dev") else since("2.1", "frames")
    segment_keys = (
        ["device", "address", "total_size", "allocated_size", "active_size"]
        + since("2.1-dev", "requested_size")
        + since("2.0", "stream")
        + ["segment_type"]
        + since("2.1-dev", "segment_pool_id")
        + since("2.1", "is_expandable", "frames")
    )
    event_keys = (
        ["action", "addr", "device_free", "size", "stream"]
        + since("2.2", "time_us")
        + ["frames"]
        + since("2.8", "compile_context")
        + since("2.10", "user_metadata")
        + since("2.12", "pool_id", "forward_frames", "category")
    )
    segments = [
        dict(
            keep(segment, segment_keys),
            blocks=[keep(block, block_keys) for block in segment["blocks"]],
        )
        for segment in snapshot["segments"]
    ]
    if generation == "1.x":
        return segments
    result = {
        "segments": segments,
        "device_traces": [
            [keep(event, event_keys) for event in trace] for trace in snapshot["device_traces"]
        ],
    }
    if age >= AGE["2.3"]:
        result["allocator_settings"] = dict(snapshot["allocator_settings"])
        if age < AGE["2.9"]:
            del result["allocator_settings"]["graph_capture_record_stream_reuse"]
    if age >= AGE["2.5"]:
        result["external_annotations"] = [
            {"name": "## step é ##", "stage": stage, "device": 0, "time_us": time_us}
            for stage, time_us in (("START", 1_700_000_000_000_001), ("END", 1_700_000_000_000_900))
        ]
    if age >= AGE["2.14"]:
        result["host_segments"] = [
            {
                "device": -1,
                "address": 4096,
                "total_size": 8192,
                "stream": 0,
                "segment_type": "small",
                "blocks": [
                    {
                        "address": 4096,
                        "size": 8192,
                        "requested_size": 8000,
                        "state": "active_allocated",
                        "frames": [],
                    }
                ],
            }
        ]
        result["host_traces"] = [
            [
                {
                    "action": "alloc",
                    "addr": 4096,
                    "size": 8000,
                    "stream": 0,
                    "time_us": 1_700_000_000_000_002,
                }
            ]
        ]
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
