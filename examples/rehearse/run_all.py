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
import concurrent.futures
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

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 600
VERDICTS = {None: "fits", "OutOfMemoryError": "out_of_memory"}


def options_of(one):
    options = ["--gpu", one.gpu, "--devices", str(one.devices)]
    if one.capacity:
        options += ["--capacity", one.capacity]
    if one.conf:
        options += ["--conf", one.conf]
    return options


def program_of(one, python, folder):
    """The command behind the `--`, with the programs in `folder`."""
    start = [python]
    if one.torchrun:
        start += ["-m", "torch.distributed.run", "--standalone",
                  "--nproc-per-node", str(one.torchrun)]
    return [*start, f"{folder}/{one.program}", *one.arguments]


def missing(one, python):
    """The package this run needs and `python` lacks, or None."""
    if one.needs is None:
        return None
    look = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{one.needs}'))"
    return one.needs if subprocess.run([python, "-c", look]).returncode else None


class Result:
    """One run of the catalogue: what came of it, and what is wrong."""

    def __init__(self, one):
        self.one = one
        self.wrong = []
        self.skipped = None
        self.document = None
        self.marks = None
        self.checked = 0
        self.seconds = 0.0
        self.host_bytes = 0
        self.files = []

    def check(self, holds, words):
        self.checked += 1
        if not holds:
            self.wrong.append(words)


def load(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


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


def line(result):
    one = result.one
    if result.skipped:
        return f"{one.name:28}skipped: {result.skipped} is not installed"
    peak = result.document["peak_allocated_bytes"] / 2**20 if result.document else 0
    reserved = result.document["peak_reserved_bytes"] / 2**20 if result.document else 0
    verdict = "WRONG" if result.wrong else "ok"
    return (f"{one.name:28}{one.label:11}{peak:>10.0f}{reserved:>10.0f}{result.checked:>7}"
            f"{result.seconds:>7.1f}{result.host_bytes / 2**20:>8.0f}  {verdict}")


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
    parser.add_argument("plimsoll")
    parser.add_argument("python", help="one that has PyTorch for CUDA")
    parser.add_argument("--out", type=pathlib.Path, help="keep recordings here")
    parser.add_argument("--only", nargs="+", metavar="NAME",
                        help="these runs of the catalogue; the others' recordings stay")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="so many at once (as many as there are processors)")
    return parser.parse_args()


def main():
    arguments = parse()
    try:
        chosen = [catalogue.find(name) for name in arguments.only] if arguments.only \
            else catalogue.ALL
    except KeyError as error:
        sys.exit(f"{error.args[0]}; `python {HERE / 'catalogue.py'}` lists them")
    plimsoll = str(pathlib.Path(arguments.plimsoll).absolute())
    python = str(pathlib.Path(arguments.python).absolute())
    pairs = None
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        pairs = recordings.rules(python, plimsoll)

    print(f"{'run':28}{'label':11}{'MiB':>10}{'reserved':>10}{'checks':>7}{'s':>7}{'host':>8}",
          flush=True)
    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(
                lambda one: rehearse(one, plimsoll, python, arguments.out, pairs), chosen):
            results.append(result)
            print(line(result), flush=True)
            for words in result.wrong:
                print(f"    {words}", flush=True)
    if arguments.out:
        write_page(write_labels(results, arguments.out), arguments.out)

    wrong = [result.one.name for result in results if result.wrong]
    ran = [result for result in results if not result.skipped]
    print(f"{len(ran) - len(wrong)} of {len(ran)} runs hold, "
          f"{sum(result.checked for result in ran)} checks, "
          f"{sum(result.seconds for result in ran):.0f} s")
    if not ran:
        return 77
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
