#!/usr/bin/env python3
"""test_recordings.py TOOL - replays recordings of PyTorch's allocator as they were made.

Those of the project (tests/data) have to come out as recorded: every driver call, every address.
Other people's (folders that PLIM_SNAPSHOT_DIR and PLIM_TRACE_DIR name) likewise, but for those
named below; without them, that part says so and is left out.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import traces

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"

# What is not exact of other people's and made-up files: the beginning of a name, and why.
EXCEPTIONS = {
    "facebookresearch_mosaic__output": "made up by a script: its allocations lie in no segment",
    "graphs-tight_torn_expandable": "the ring begins amid a free in a pool that requests are "
    "routed to, which looks as if it waited",
}


def look(tool, files, confs=()):
    """What replay says: (rows of devices, messages about files that cannot be replayed)."""
    arguments = [word for conf in confs for word in ("--conf", conf)]
    done = subprocess.run([tool, *arguments, *map(str, files)], check=True, capture_output=True,
                          text=True, timeout=600)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if "error" not in row], [row for row in rows if "error" in row]


def is_exact(row):
    return (row["recorded"] == row["predicted"] == row["matched"]
            and row["placements"] == row["placed"] and row["max_difference"] == 0)


def name_of(row):
    return f"{pathlib.Path(row['file']).name}, device {row['device']}"


def said(row):
    return (f"{name_of(row)}: {row['matched']} of {max(row['recorded'], row['predicted'])} driver "
            f"calls, {row['placed']} of {row['placements']} placements; {row['divergence']} "
            f"{row['doubts']}")


def judge(title, rows):
    """Prints what is not exact; returns how many of these are no exceptions."""
    wrong = 0
    for row in rows:
        name = pathlib.Path(row["file"]).name
        reason = next((why for start, why in EXCEPTIONS.items() if name.startswith(start)), None)
        if not is_exact(row):
            print(f"{said(row)} ({reason or 'unexplained'})")
            wrong += reason is None
    exact = sum(is_exact(row) for row in rows)
    print(f"{title}: {exact} of {len(rows)} devices replayed exactly")
    return wrong


def project(tool):
    files = [path for folder in ("recordings", "rehearsals")
             for path in sorted((DATA / folder).glob("*.pickle*"))]
    rows, others = look(tool, files)
    for row in others:
        print(f"{row['file']}: {row['error']}")
    return judge("the project's recordings", rows) + len(others) + (not rows)


def snapshots(tool, folder):
    rows, others = look(tool, sorted(folder.glob("*.pickle")))
    for row in others:
        print(f"{pathlib.Path(row['file']).name}: {row['error']}")
    return judge("other people's snapshots", rows) + sum(row["status"] != "PLIM_UNSUPPORTED"
                                                         for row in others)


def event_lists(tool, folder):
    """Their fidelity, and peaks from a cold start: the run's own and, beside it, an outside model
    of expandable segments, which is no truth."""
    with tempfile.TemporaryDirectory() as made:
        files = [traces.write(path, made) for path in sorted(folder.glob("*.csv"))
                 if path.name != "expected.csv"]
        rows, others = look(tool, files, ("default", "expandable_segments:True"))
    wrong = judge("other people's event lists", rows) + len(others)
    with open(folder / "expected.csv", newline="") as file:
        expected = {pathlib.Path(row["trace"]).stem: row for row in csv.DictReader(file)}
    for row in rows:
        want = expected[pathlib.Path(row["file"]).stem]
        default, expandable = (run["peak_reserved"] for run in row["runs"])
        if want["cold_start"] == "yes" and default != int(want["real_reserved_peak"]):
            print(f"{name_of(row)}: a peak of {default} instead of {want['real_reserved_peak']}")
            wrong += 1
        model = int(want["model_expandable"])
        print(f"{name_of(row)}: default {default / int(want['model_default']) - 1:+.2%}, "
              f"expandable {expandable / model - 1:+.2%} beside the models")
    return wrong


def folder_of(variable):
    given = os.environ.get(variable)
    if not given:
        print(f"left out: {variable} names no folder of other people's")
        return None
    return pathlib.Path(given)


def main():
    tool = sys.argv[1]
    wrong = project(tool)
    folder = folder_of("PLIM_SNAPSHOT_DIR")
    if folder is not None:
        wrong += snapshots(tool, folder)
    folder = folder_of("PLIM_TRACE_DIR")
    if folder is not None:
        wrong += event_lists(tool, folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
