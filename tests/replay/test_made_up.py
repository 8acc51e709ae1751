#!/usr/bin/env python3
"""test_made_up.py MAKE_TRACE TOOL - replays made-up histories (bench/traces) as they were recorded.

Each kind is recorded whole; as the tail of a ring buffer, under several settings; without stacks;
and on a device that is too small for it, where requests fail and the program goes on.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import test_recordings

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
import share  # noqa: E402

EVENTS = 24000
KEPT = 8000
KINDS = ("training", "finetune", "moe", "unet", "dit", "paged", "contiguous", "rl", "evaluation",
         "vision", "streams", "graphs")
OLD = ["--no-pools"]  # as releases before 2.12 write
TORN = ["--keep", str(KEPT), *OLD]
VARIANTS = {
    "whole": [],
    "bare": [*OLD, "--no-stacks"],
    "torn": TORN,
    "torn_bare": [*TORN, "--no-stacks"],
    "torn_expandable": [*TORN, "--conf", "expandable_segments:True"],
    "torn_split": [*TORN, "--conf", "max_split_size_mb:128,roundup_power2_divisions:8"],
}
TIGHT = {
    "tight": OLD,
    "tight_bare": [*OLD, "--no-stacks"],
    "tight_torn_expandable": [*TORN, "--conf", "expandable_segments:True"],
}


def make(maker, folder, kind, variant, options):
    path = folder / f"{kind}-{variant}.pickle"
    done = subprocess.run([maker, kind, "--events", str(EVENTS), "-o", path, *options],
                          check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)["peak_reserved_bytes"]


def make_kind(maker, folder, kind):
    for variant, options in VARIANTS.items():
        peak = make(maker, folder, kind, variant, options)
        if variant == "whole":
            small = ["--capacity", str(peak * 97 // 100), "--go-on"]
            for tight, more in TIGHT.items():
                make(maker, folder, kind, tight, [*small, *more])


def main():
    maker, tool = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        list(pool.map(lambda kind: make_kind(maker, folder, kind), KINDS))
        made = sorted(folder.glob("*.pickle"))
        taken = share.of(made)
        rows, others = test_recordings.look(tool, taken)
    for row in others:
        print(f"{row['file']}: {row['error']}")
    wrong = test_recordings.judge("made-up histories", rows)
    wanted = len(KINDS) * (len(VARIANTS) + len(TIGHT))
    return 1 if wrong or others or len(made) != wanted or len(rows) != len(taken) else 0


if __name__ == "__main__":
    sys.exit(main())
