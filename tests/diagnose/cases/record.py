#!/usr/bin/env python3
"""Record programs whose problem is known, and write their labels.

    record.py build/release/plimsoll VENV/bin/python [NAME ...]

Runs the cases of leaks/catalogue.py and lookalikes/catalogue.py through `plimsoll rehearse`; with
NAMEs (of cases, or of a group) only these. Recordings go to tests/data/diagnoses, compressed, with
a labels-GROUP.json each. File names of frames are relative to this folder, so that no machine's
folders are in them. A label whose recording is not there yet is left out.
"""

import ast
import bisect
import importlib.util
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OUT = ROOT / "tests" / "data" / "diagnoses"
GROUPS = ("leaks", "lookalikes")
TICK_US = 256
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "rehearse")]

import recordings  # noqa: E402


def cases_of(group):
    """The CASES of a group's catalogue; none where it has no catalogue."""
    path = HERE / group / "catalogue.py"
    if not path.exists():
        return []
    spec = importlib.util.spec_from_file_location(f"{group}_catalogue", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


def statement_lines(source, piece):
    """Lines of the statements that contain `piece`: a frame may name any line of a statement."""
    lines = source.splitlines()
    tree = ast.parse(source)
    found = set()
    for number, line in enumerate(lines, 1):
        if piece not in line:
            continue
        around = [node for node in ast.walk(tree)
                  if isinstance(node, ast.stmt) and node.lineno <= number <= node.end_lineno]
        inner = min(around, key=lambda node: node.end_lineno - node.lineno)
        if hasattr(inner, "body"):  # of a compound statement only its head
            found.add(number)
        else:
            found.update(range(inner.lineno, inner.end_lineno + 1))
    return found


def blame_lines(group, case):
    """[file, line] pairs; raises ValueError for a piece that is not in the program."""
    source = (HERE / group / case.file).read_text(encoding="utf-8")
    lines = set()
    for piece in ((case.blame,) if case.blame else ()) + tuple(case.blame_also):
        found = statement_lines(source, piece)
        if not found:
            raise ValueError(f"{case.name}: {case.file} has no line with {piece!r}")
        lines |= found
    return [[f"{group}/{case.file}", line] for line in sorted(lines)]


def label(group, case, path):
    command = " ".join(["plimsoll rehearse", *case.options(), "--record", f"{case.name}.pickle",
                        "-- python", f"{group}/{case.program}"])
    return {
        "name": case.name, "file": path.name, "command": command, "verdict": case.verdict,
        "also": list(case.also), "cause": case.cause, "blame": case.blame,
        "blame_lines": blame_lines(group, case), "leak": case.is_leak,
        "growth_bytes_per_step": case.growth, "growth_blocks_per_step": case.growth_blocks,
        "period_steps": case.period, "first_step": case.first,
        "optimizer_steps": case.optimizer_steps,
        "strip": list(case.strip), "last": case.last, "why": case.why,
    }


def strip(snapshot, case):
    """Remove what the case says its recording lacks."""
    entries = [entry for trace in snapshot["device_traces"] for entry in trace]
    blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
    if "frames" in case.strip:
        for holder in entries + blocks + snapshot["segments"]:
            holder.pop("frames", None)
    if "annotations" in case.strip:
        snapshot["external_annotations"] = []
    if case.last is not None:
        snapshot["device_traces"] = [trace[len(trace) - min(case.last, len(trace)):]
                                     for trace in snapshot["device_traces"]]


def share(snapshot):
    """Make equal stacks one list: a pickle then holds each of them once."""
    known = {}
    for trace in snapshot["device_traces"]:
        for entry in trace:
            if "frames" in entry:
                stack = tuple(id(frame) for frame in entry["frames"])
                entry["frames"] = known.setdefault(stack, entry["frames"])


def coarsen_times(snapshot):
    """Round times down to TICK_US, never across an annotation: compressed, a third is saved."""
    marks = sorted({mark["time_us"] for mark in snapshot.get("external_annotations", ())})
    for trace in snapshot["device_traces"]:
        for entry in trace:
            time = entry["time_us"]
            after = bisect.bisect_right(marks, time)
            rounded = time - time % TICK_US
            entry["time_us"] = max(rounded, marks[after - 1]) if after else rounded


def write(snapshot, name):
    """Compress into the folder of recordings."""
    data, suffix = recordings.compress(pickle.dumps(snapshot, protocol=4))
    path = OUT / f"{name}.pickle{suffix}"
    path.write_bytes(data)
    return path


def record(group, case, plimsoll, python, pairs):
    """Rehearse one case; returns the path of its recording."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "recording.pickle"
        command = [plimsoll, "rehearse", "--no-retry", *case.options(), "--record", str(path), "--",
                   python, str(HERE / group / case.file), *case.arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if not path.exists():
            raise ValueError(f"{case.name}: exit status {done.returncode}: {done.stderr[-1500:]}")
        if "Traceback" in done.stderr and "OutOfMemoryError" not in done.stderr:
            raise ValueError(f"{case.name}: {done.stderr[-1500:]}")
        snapshot = recordings.Plain(io.BytesIO(path.read_bytes())).load()
    for frame in recordings.frames_of(snapshot):
        frame["filename"] = recordings.rename(frame["filename"], pairs)
    recordings.neutralise(snapshot, pairs)  # refuses paths that no rule covers
    coarsen_times(snapshot)
    strip(snapshot, case)
    share(snapshot)
    return write(snapshot, case.name)


def main():
    plimsoll, python = (str(pathlib.Path(path).absolute()) for path in sys.argv[1:3])
    names = set(sys.argv[3:])
    OUT.mkdir(parents=True, exist_ok=True)
    pairs = sorted([(f"{HERE}/", ""), *recordings.rules(python, plimsoll)],
                   key=lambda pair: -len(pair[0]))
    wrong = 0
    for group in GROUPS:
        labels = []
        cases = cases_of(group)
        for case in cases:
            try:
                if not names or names & {case.name, group}:
                    path = record(group, case, plimsoll, python, pairs)
                    print(f"{path.name:44}{path.stat().st_size:>8}", flush=True)
                path = OUT / f"{case.name}.pickle.zst"
                if path.exists():
                    labels.append(label(group, case, path))
            except ValueError as error:
                wrong += 1
                print(error, flush=True)
        if cases:
            (OUT / f"labels-{group}.json").write_text(json.dumps(labels, indent=1) + "\n",
                                                      encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
