#!/usr/bin/env python3
"""run.py --plimsoll PROGRAM --make-snapshot PROGRAM [--quick] [--rounds N] [--directory DIR]

Time and memory of `plimsoll diagnose --json`: a history of 1,000,000 events on one core (at most 1.5 s and
150 MB), one of 10,000,000 (in proportion), and 1,000 files of the ranks of a job on two cores (at least 500 MB/s of
plain pickle). In each round `plimsoll inspect` reads the same files, so that a ratio is taken side by side.
Prints one JSON document.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measuring import column, fail, machine, median, run  # noqa: E402

LIMITS = {"seconds": 1.5, "rss_bytes": 150e6, "linear": 1.15, "bytes_per_second": 500e6}


def make(program, events, path):
    run([program, "--events", str(events), "-o", str(path)])
    return path


def on_cores(count, words):
    return ["taskset", "-c", ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:count])] + words


def measure(plimsoll, files, cores, rounds):
    """What both commands took, round by round."""
    taken = {"diagnose": [], "inspect": []}
    for _ in range(rounds):
        for command, rows in taken.items():
            output, figures = run(on_cores(cores, [plimsoll, command, "--json", *map(str, files)]))
            if json.loads(output)["schema"] != f"{command}/1":
                fail(f"{command} printed another document")
            rows.append(figures)
    ratios = [one["seconds"] / other["seconds"] for one, other in zip(taken["diagnose"], taken["inspect"])]
    return {"diagnose": column(taken["diagnose"]), "inspect": column(taken["inspect"]),
            "times_inspect": round(median(ratios), 2)}


def ranks(plimsoll, source, count, folder, rounds):
    """Files of ranks are links to one file: what is measured is not the disk."""
    files = [folder / f"snapshot_rank{rank}.pickle" for rank in range(count)]
    for file in files:
        os.link(source, file)
    rows = []
    for _ in range(rounds):
        output, figures = run(on_cores(2, [plimsoll, "diagnose", "--json", *map(str, files)]))
        if json.loads(output)["ranks"]["count"] != count:
            fail("not every rank is in the document")
        rows.append(figures)
    taken = column(rows)
    size = source.stat().st_size * count
    return {"files": count, "bytes": size, "diagnose": taken,
            "bytes_per_second": round(size / taken["seconds"]["median"])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--make-snapshot", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory")
    options = parser.parse_args()
    scale, rounds = (100, 1) if options.quick else (1, options.rounds)
    document = {"benchmark": "diagnose_speed", "machine": machine(), "rounds": rounds, "limits": LIMITS}
    with tempfile.TemporaryDirectory(prefix="diagnose_speed.", dir=options.directory) as place:
        folder = pathlib.Path(place)
        for name, events in (("million", 1_000_000 // scale), ("ten_million", 10_000_000 // scale)):
            path = make(options.make_snapshot, events, folder / f"{name}.pickle")
            document[name] = {"events": events, "bytes": path.stat().st_size,
                              **measure(options.plimsoll, [path], 1, rounds)}
            path.unlink()
        one, ten = (document[name]["diagnose"]["seconds"]["median"] for name in ("million", "ten_million"))
        document["per_event_at_ten_million"] = round(ten / one / 10, 2)
        source = make(options.make_snapshot, 12_000, folder / "rank.pickle")
        document["ranks"] = ranks(options.plimsoll, source, 1000 // min(scale, 20), folder, rounds)
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
