#!/usr/bin/env python3
"""Rehearse the whole catalogue, and hold it to what is known by hand.

    run_all.py build/release/plimsoll VENV/bin/python [--out FOLDER] [--only NAME ...]

Each run goes through `plimsoll rehearse`; the program's own counters, the document of the
rehearsal and what expectations.py computes must agree, and the end must be the one the catalogue
foretells. With --out the recordings are kept there, compressed, with a README.md and labels.json
that say what each of them is. Exits with 1 when anything does not hold, and with 77 when nothing
could be run.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import catalogue  # noqa: E402
import expectations  # noqa: E402
import recordings  # noqa: E402
import walker  # noqa: E402
from walker import load, missing, options_of, program_of  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 600
VERDICTS = {None: "fits", "OutOfMemoryError": "out_of_memory"}


class Result(walker.Outcome):
    """One rehearsal, and its own view of memory."""

    def __init__(self, one):
        super().__init__(one)
        self.document = None
        self.marks = None
        self.host_bytes = 0
        self.files = []

    def figures(self):
        peak = self.document["peak_allocated_bytes"] / 2**20 if self.document else 0
        reserved = self.document["peak_reserved_bytes"] / 2**20 if self.document else 0
        return (f"{peak:>10.0f}{reserved:>10.0f}{self.checked:>7}{self.seconds:>7.1f}"
                f"{self.host_bytes / 2**20:>8.0f}")


def start(one, plimsoll, python, scratch):
    """Run it; (exit status, the most memory any of its processes had, seconds)."""
    # One run alone: a second would write the program's own counters anew.
    own = [plimsoll, "rehearse", "--json", "--no-retry", *options_of(one),
           "--record", str(scratch / "recording.pickle"), "--"]
    command = own + program_of(one, python, HERE) + ["--json", str(scratch / "marks.json")]
    began = time.monotonic()
    with open(scratch / "rehearse.json", "wb") as out, open(scratch / "words", "wb") as words:
        child = subprocess.Popen(command, stdout=out, stderr=words, cwd=scratch)
        usage = None
        while usage is None:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                usage = used
            elif time.monotonic() - began > LIMIT_SECONDS:
                child.terminate()
                time.sleep(2)
            else:
                time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss * 1024, time.monotonic() - began


def check_peaks(result):
    """PyTorch's counters and the rehearsal's document, for the first rank."""
    own = result.marks["peak"]
    ranks = [process for process in result.document["processes"]
             if process["devices"] and process["rank"] == 0]
    result.check(len(ranks) == 1, f"{len(ranks)} processes of rank 0 used a device")
    if len(ranks) != 1:
        return
    device = ranks[0]["devices"][0]
    for field in ("allocated", "reserved"):
        told = device[f"peak_{field}_bytes"]
        result.check(told == own[field],
                     f"peak {field}: PyTorch counts {own[field]:,}, the document {told:,}")


def rehearse(one, plimsoll, python, out, pairs):
    result = Result(one)
    result.skipped = missing(one, python)
    if result.skipped:
        return result
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        status, result.host_bytes, result.seconds = start(one, plimsoll, python, scratch)
        result.document = load(scratch / "rehearse.json")
        result.marks = load(scratch / "marks.json")
        if result.document is None or result.marks is None:
            words = (scratch / "words").read_text(errors="replace").strip().splitlines()
            result.check(False, f"exit status {status}: " + " | ".join(words[-3:]))
            return result
        verdict = result.document["verdict"]
        result.check(verdict == VERDICTS[one.ends], f"the verdict is {verdict}")
        result.check(result.marks["ended"] == one.ends, f"it ended with {result.marks['ended']}")
        check_peaks(result)
        expandable = "expandable_segments:True" in (one.conf or "")
        for mark, field, expected, found in expectations.compare(result.marks, one.gpu,
                                                                 expandable):
            result.check(expected == found, f"{mark}: {field} {found:,}, by hand {expected:,}")
        if out and not result.wrong:
            for rank, path in enumerate(sorted(result.document["recordings"])):
                name = one.name + (f".rank{rank}" if rank else "")
                result.files.append(recordings.keep(path, out, name, pairs))
    return result


def said(one):
    """The command that makes a recording, as a reader would type it."""
    program = " ".join(program_of(one, "python", "examples/rehearse"))
    return f"plimsoll rehearse {' '.join(options_of(one))} --record {one.name}.pickle -- {program}"


def write_labels(results, out):
    """Labels of all recordings that lie there: of these runs anew, of others as they were."""
    labels = load(out / "labels.json") or {}
    for result in results:
        one = result.one
        for path in result.files:
            labels[path.name] = {
                "name": one.name, "label": one.label, "cause": one.cause, "blame": one.blame,
                "verdict": catalogue.verdict_of(one.label, one.cause),
                "command": said(one), "torch": result.marks["torch"],
                "ends": one.ends,
                "peak_allocated_bytes": result.document["peak_allocated_bytes"],
                "peak_reserved_bytes": result.document["peak_reserved_bytes"],
                "peak_device_bytes": result.document["peak_device_bytes"],
            }
    order = [one.name for one in catalogue.ALL]
    labels = {file: labels[file] for file in sorted(
        labels, key=lambda file: (order.index(labels[file]["name"]), len(file)))}
    (out / "labels.json").write_text(json.dumps(labels, indent=1) + "\n", encoding="utf-8")
    return labels


PAGE = """# Rehearsals

Recordings of the reference programs in [examples/rehearse](../../../examples/rehearse), made by
`plimsoll rehearse` on a machine without a GPU, with PyTorch {torch}. What is right and wrong with
each is known, because we wrote it: `labels.json` says it for programs, this page for readers.

This page, the labels and all recordings are written by
`examples/rehearse/run_all.py PLIMSOLL PYTHON --out tests/data/rehearsals`, which first checks
every run against what can be computed by hand. File names of frames were renamed, so that no
machine's folders are in them; times differ from run to run.

| recording | label | verdict | allocated | reserved | device | file bytes | shows |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |
"""


def write_page(labels, out):
    rows, commands = [], []
    for file, label in labels.items():
        kind = label["label"] + (f": {label['cause']}" if label["cause"] else "")
        rows.append(f"| {file} | {kind} | {label['verdict']} | {label['peak_allocated_bytes']:,} "
                    f"| {label['peak_reserved_bytes']:,} | {label['peak_device_bytes']:,} "
                    f"| {(out / file).stat().st_size:,} "
                    f"| {catalogue.find(label['name']).shows} |")
        command = f"- **{label['name']}**: `{label['command']}`"
        if command not in commands:
            commands.append(command)
    versions = sorted({label["torch"] for label in labels.values()})
    text = PAGE.format(torch=" and ".join(versions)) + "\n".join(rows) \
        + "\n\nPeaks are those of the whole device, in bytes. The verdict is what " \
        + "`plimsoll diagnose` is to answer.\n\n## Commands\n\n" \
        + "\n".join(commands) + "\n"
    (out / "README.md").write_text(text, encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    walker.add_arguments(parser)
    parser.add_argument("--out", type=pathlib.Path,
                        help="keep recordings here; those of runs left out by --only stay")
    return parser.parse_args()


def main():
    arguments = parse()
    chosen = walker.chosen_of(arguments.only, catalogue.ALL)
    plimsoll = walker.absolute(arguments.plimsoll)
    python = walker.absolute(arguments.python)
    pairs = None
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        pairs = recordings.rules(python, plimsoll)

    print(f"{'run':28}{'label':11}{'MiB':>10}{'reserved':>10}{'checks':>7}{'s':>7}{'host':>8}",
          flush=True)
    results = walker.walk(
        lambda one: rehearse(one, plimsoll, python, arguments.out, pairs), chosen, arguments.jobs)
    if arguments.out:
        write_page(write_labels(results, arguments.out), arguments.out)
    return walker.total(results)


if __name__ == "__main__":
    sys.exit(main())
