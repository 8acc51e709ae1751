#!/usr/bin/env python3
"""How long a large snapshot takes: plimsoll inspect, end to end, against pickle.load alone.

    run.py --make-snapshot PROGRAM --plimsoll PROGRAM [--quick] [--sizes 20MB,100MB,300MB,1GB]
           [--events 1000000,2000000,5000000,10000000] [--repeat N] [--directory DIR]

Makes its own files and removes them. Prints one JSON document; status 1 only if a program fails
or plimsoll finds other figures than the file was made with. Ratios above 1 are in our favour.

Each size is measured in rounds; a round runs, one after the other, plimsoll, CPython with its
collector on as by default, and CPython with it off. A ratio is the median over the rounds of the
ratio within a round, so that what else the machine does weighs on both sides; on a busy machine
the ratio of processor seconds (user and system) is the steadier one. CPython's seconds are those
around pickle.load, the start of the interpreter not counted; plimsoll's are those of the whole
process. Memory is the peak of the process (ru_maxrss); a child cannot show less than this
script takes, which is why it imports so little.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from measuring import column, fail, machine, median, run  # noqa: E402

LOAD = """
import gc, pickle, sys, time
if sys.argv[2] == "off":
    gc.disable()
with open(sys.argv[1], "rb") as file:
    start, start_cpu = time.perf_counter(), time.process_time()
    snapshot = pickle.load(file)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
import os
os.write(1, f"{seconds} {cpu}".encode())
os._exit(0) # taking the objects down is not our subject
"""

SIZES = "20MB,100MB,300MB,1GB"
EVENTS = "1000000,2000000,5000000,10000000"
COMPRESSED = "100MB"
TWO_SHAPES = "75MB"


def make(options, path, *size):
    output, _ = run([options["make_snapshot"], *size, "-o", path])
    with open(path, "rb") as file:  # into the page cache, for whoever is measured first
        while file.read(1 << 20):
            pass
    return json.loads(output)


def check(options, path, made):
    """Plimsoll has to see in the file what the generator put there."""
    output, _ = run([options["plimsoll"], "inspect", "--json", path])
    device = json.loads(output)["files"][0]["devices"][0]
    found = {
        "events": device["events"],
        "live_bytes_end": device["end"]["requested_bytes"],
        "live_bytes_peak": device["peak"]["requested_bytes"],
        "live_blocks_peak": device["peak"]["live_count"],
        "events_at_peak": device["peak"]["event"] + 1,
        "reserved_bytes_end": device["end"]["reserved_bytes"],
        "segments": device["end"]["segments"],
    }
    for name, value in found.items():
        if made[name] != value:
            fail(f"{name} is {made[name]} in the file, {value} to plimsoll")


def inspect(options, path):
    _, taken = run([options["plimsoll"], "inspect", "--json", path], keep_output=False)
    return taken


def load(path, collector):
    output, taken = run([sys.executable, "-c", LOAD, path, collector])
    taken["seconds"], taken["cpu_seconds"] = map(float, output.split())
    return taken


def rate(made, seconds):
    return {"ns_per_event": round(seconds * 1e9 / made["events"], 1),
            "mb_per_second": round(made["bytes"] / 1e6 / seconds, 1)}


def compare(options, directory, size, *more):
    path = os.path.join(directory, f"training_{size}.pickle")
    made = make(options, path, "--bytes", size, *more)
    check(options, path, made)
    ours, theirs, theirs_off = [], [], []
    # Where one round takes minutes, two have to do.
    for _ in range(options["repeat"] if made["bytes"] < 5e8 else min(options["repeat"], 2)):
        ours.append(inspect(options, path))
        theirs.append(load(path, "on"))
        theirs_off.append(load(path, "off"))
    os.remove(path)

    def ratio(other, name):
        return round(median([b[name] / a[name] for a, b in zip(ours, other)]), 2)
    return {
        "file": made,
        "plimsoll": column(ours) | rate(made, median([taken["seconds"] for taken in ours])),
        "pickle_load": column(theirs) | rate(made, median([taken["seconds"] for taken in theirs])),
        "pickle_load_no_gc": column(theirs_off)
        | rate(made, median([taken["seconds"] for taken in theirs_off])),
        "ratio": {
            "seconds": ratio(theirs, "seconds"),
            "seconds_no_gc": ratio(theirs_off, "seconds"),
            "cpu_seconds": ratio(theirs, "cpu_seconds"),
            "cpu_seconds_no_gc": ratio(theirs_off, "cpu_seconds"),
            "rss": ratio(theirs, "rss_bytes"),
        },
    }


def climb(options, directory, events):
    """One rung of the ladder of events, where only plimsoll is measured."""
    path = os.path.join(directory, f"training_{events}.pickle")
    made = make(options, path, "--events", events)
    check(options, path, made)
    rounds = [inspect(options, path) for _ in range(options["repeat"])]
    os.remove(path)
    least = min(taken["cpu_seconds"] for taken in rounds)
    return {"events": made["events"], "bytes": made["bytes"], "plimsoll": column(rounds),
            "cpu_ns_per_event_min": round(least * 1e9 / made["events"], 1),
            "rss_bytes_per_event": round(median([taken["rss_bytes"] for taken in rounds])
                                         / made["events"], 1)} | rate(
                made, median([taken["seconds"] for taken in rounds]))


def unpack(options, directory, size):
    """The same events as they are and compressed; a missing compressor is a null."""
    path = os.path.join(directory, f"training_{size}.pickle")
    made = make(options, path, "--bytes", size)
    result = {"file": made}
    compressors = {"plain": None, "gzip": ["gzip", "-k", "-6", path],
                   "zstd": ["zstd", "-q", "-k", "-3", path]}
    names = {"plain": path, "gzip": path + ".gz", "zstd": path + ".zst"}
    for form, words in compressors.items():
        try:
            if words is not None:
                run(words)
        except FileNotFoundError:
            result[form] = None
            continue
        rounds = [inspect(options, names[form]) for _ in range(options["repeat"])]
        result[form] = {"bytes": os.path.getsize(names[form])} | column(rounds)
        if words is not None:
            os.remove(names[form])
    os.remove(path)
    return result


def parse(words):
    options = {"sizes": SIZES, "events": EVENTS, "compressed": COMPRESSED, "two_shapes": TWO_SHAPES,
               "repeat": 3,
               "directory": None}
    words = list(words)
    while words:
        word = words.pop(0)
        name = word.removeprefix("--").replace("-", "_")
        if word == "--quick":
            options |= {"sizes": "2MB", "events": "10000,20000", "compressed": "2MB",
                        "two_shapes": "2MB", "repeat": 1}
        elif word in ("--make-snapshot", "--plimsoll", "--sizes", "--events", "--compressed",
                      "--two-shapes", "--repeat", "--directory") and words:
            options[name] = words.pop(0)
        else:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
    if "make_snapshot" not in options or "plimsoll" not in options:
        fail("--make-snapshot and --plimsoll have to be given")
    options["repeat"] = int(options["repeat"])
    return options


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="snapshot_load.", dir=options["directory"]) as place:
        document = {"benchmark": "snapshot_load", "machine": machine(),
                    "repeat": options["repeat"]}
        document["sizes"] = [compare(options, place, size)
                             for size in options["sizes"].split(",") if size]
        # Events of two shapes in turn, shallower stacks.
        document["two_shapes"] = compare(options, place, options["two_shapes"], "--depth", "36",
                                         "--categories")
        document["compressed"] = unpack(options, place, options["compressed"])
        document["ladder"] = [climb(options, place, events)
                              for events in options["events"].split(",") if events]
    # What a child is charged with although it is ours: below this, memory is not measured.
    document["rss_floor_bytes"] = run(["true"])[1]["rss_bytes"]
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
