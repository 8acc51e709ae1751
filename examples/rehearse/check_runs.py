#!/usr/bin/env python3
"""Run the whole catalogue under `plimsoll run`, over the stand-ins, and hold it to what is known.

    check_runs.py build/release/plimsoll VENV/bin/python [--only NAME ...] [--quick]

Each program runs twice, rehearsed and under `plimsoll run`: its exit status and what it prints must
be the same. A healthy one prints nothing else. One that runs out of memory leaves a verdict, which
must be the catalogue's and name the blamed line; the holders of its memory must be known for 95 % of
what was live, and the object that keeps a planted leak must be one that holds the most. Planted
leaks run as they are, and again until memory is full. Exits with 1 when anything does not hold, and
with 77 when nothing could be run.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import catalogue  # noqa: E402
import walker  # noqa: E402

LIMIT_SECONDS = 600
NAMED_SHARE = 0.95
QUICK = ("gpt-loss-chunks", "bug-loss-kept-full", "bug-outputs-kept-oom")
# Of a model, whatever else is wrong.
EXPECTED = ("parameters", "buffers")
PLACE = re.compile(r"\([^()]*\.py(:\d+)?\)")  # whose name may be the holder's
# Times of this run, and addresses and process numbers in what libraries print.
VARYING = [(re.compile(rb"\d+\.\d s$", re.M), b"T s"),
           (re.compile(rb"\b0x[0-9a-f]{6,}"), b"ADDRESS"),
           (re.compile(rb"\bpid[: ]+\d+"), b"PID"),
           (re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?|[EWI]\d{4} [\d:.]+ +\d+ "),
            b"TIME"),
           (re.compile(rb"(process |localhost|\[)\d{4,}"), rb"\1N")]
GROWS = re.compile(rb"^plimsoll: .* grows .*\n", re.M)  # while a program runs that leaks
RUNS = catalogue.ALL + [catalogue.until_full(one) for one in catalogue.ALL if one.full]


def blamed(one):
    """`file.py:12` of each line that the catalogue may blame: of the program, or what it shares."""
    if one.blame is None:
        return []
    paths = [walker.HERE / one.program]
    if not one.program.startswith("bugs/"):
        paths += [walker.HERE / "techniques.py", *sorted((walker.HERE / "models").glob("*.py"))]
    return [f"{path.name}:{number}" for path in paths
            for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if one.blame in text]


def steady(output):
    """Output without what differs from run to run."""
    for pattern, word in VARYING:
        output = pattern.sub(word, output)
    return output


class Ended:
    """How a program ended under one of the commands."""

    def __init__(self, command, scratch, name):
        began = time.monotonic()
        scratch = scratch / name
        scratch.mkdir()
        with open(scratch / "out", "wb") as out, open(scratch / "err", "wb") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                     cwd=scratch)
            try:
                self.status = child.wait(LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                child.terminate()
                self.status = child.wait(30)
        self.seconds = time.monotonic() - began
        self.out = steady((scratch / "out").read_bytes())
        self.err = steady((scratch / "err").read_bytes())


# Keeps the program's own streams apart from the report of the rehearsal.
APART = 'out=$1 err=$2; shift 2; "$@" >"$out" 2>"$err"; echo $? >"$out.status"'


def rehearsed(one, plimsoll, python, scratch):
    """The program as it is without a recorder."""
    own = scratch / "plain"
    own.mkdir()
    command = [plimsoll, "rehearse", "--json", "--no-retry", *walker.options_of(one), "--",
               "sh", "-c", APART, "sh", str(own / "out"), str(own / "err"),
               *walker.program_of(one, python, walker.HERE)]
    ended = Ended(command, scratch, "rehearsal")
    ended.status = int((own / "out.status").read_text())
    ended.out = steady((own / "out").read_bytes())
    ended.err = steady((own / "err").read_bytes())
    return ended


def watched(one, plimsoll, python, scratch):
    """The program under the recorder; its folder is scratch/run."""
    command = [plimsoll, "run", "--output", str(scratch / "run"), *walker.options_of(one), "--",
               *walker.program_of(one, python, walker.HERE)]
    return Ended(command, scratch, "watched")


class Failure:
    """What the black box says of the request that ended a program."""

    def __init__(self, folder):
        dumps = sorted(folder.rglob("[0-9]*-oom.json"))
        self.dump = walker.load(dumps[0]) if dumps else None
        self.holders = None
        if self.dump and self.dump.get("holders"):
            self.holders = walker.load(dumps[0].parent / self.dump["holders"])

    def named_share(self):
        """Of the live bytes; and that of holders by name alone."""
        devices = self.holders["devices"]
        live = sum(one["live_bytes"] for one in devices)
        held = sum(one["held_bytes"] for one in devices)
        others = sum((one["graph_bytes"] or 0) + (one["engine_bytes"] or 0) for one in devices)
        return (held + others) / max(live, 1), held / max(live, 1)

    def share_of(self, name, expected=EXPECTED):
        """Of what a healthy program would not hold: the part that holders with that name have."""
        word = re.compile(rf"\b(?:{name})\b")
        least = sum(one["bytes"] for one in self.holders["holders"] if one["kind"] in expected)
        live = sum(one["live_bytes"] for one in self.holders["devices"]) - least
        if name == "garbage":
            garbage = self.holders.get("garbage") or {"bytes": 0}
            return garbage["bytes"] / max(live, 1)
        named = [one["bytes"] for one in self.holders["holders"] if one["kind"] not in expected
                 and word.search(PLACE.sub("", " ".join([one["name"] or "", one["text"],
                                                         *one["path"]])))]
        return min(sum(named) / max(live, 1), 1.0)


class Result(walker.Outcome):
    """One program, without and with a recorder."""

    def __init__(self, one):
        super().__init__(one)
        self.plain = None
        self.run = None
        self.shares = None

    def figures(self):
        named = "{:>7.1%}{:>7.1%}".format(*self.shares) if self.shares else f"{'':14}"
        return f"{named}{self.checked:>7}{self.seconds:>7.1f}"

    def output(self):
        """The program's own output and status, and nothing more of a healthy one."""
        plain, run, is_healthy = self.plain, self.run, self.one.label == "healthy"
        said = run.err if is_healthy else GROWS.sub(b"", run.err)
        self.check(plain.status == run.status,
                   f"exit status {run.status}, without a recorder {plain.status}")
        for stream, own, mixed in (("stdout", plain.out, run.out), ("stderr", plain.err, said)):
            if self.one.torchrun:  # lines of several processes, in any order
                own, mixed = (b"\n".join(sorted(text.splitlines())) for text in (own, mixed))
            if self.one.label == "cycles" and self.one.ends:
                continue  # when the collector comes decides at which step memory is full
            if self.one.label == "cycles":  # a recorder's objects move the collector's moments
                own, mixed = (re.sub(rb"[\d,]+ (MiB|B)\b", b"N", text) for text in (own, mixed))
            holds = own == mixed if is_healthy else mixed.startswith(own)
            self.check(holds, f"{stream} is another: {first_difference(own, mixed)}")

    def holder(self, failure):
        """The object that keeps a leak, and the share with any name."""
        if failure.holders is None:
            why = failure.dump.get("why_no_holders") if failure.dump else "no dump of an OOM"
            self.check(False, f"no holders: {why}")
            return
        self.shares = failure.named_share()
        self.check(self.shares[0] >= NAMED_SHARE,
                   f"{self.shares[0]:.1%} of the live bytes have a known holder")
        if self.one.holder:
            share = failure.share_of(self.one.holder)
            largest = [(one["kind"], one["text"], one["bytes"] >> 20)
                       for one in failure.holders["holders"][:3]]
            self.check(share >= 0.5, f"`{self.one.holder}` holds {share:.1%}; largest: {largest}")

    def verdict(self, plimsoll, scratch):
        """The line on the page; the verdict of the document."""
        page = (self.run.out + self.run.err).decode(errors="replace")
        lines = blamed(self.one)
        if lines:
            self.check(any(line in page for line in lines), f"the page does not name {lines}")
        if self.one.holder and self.one.holder != "garbage" and self.one.label == "leak":
            self.check(re.search(rf"\b{self.one.holder}\b", page[len(self.plain.out):]) is not None,
                       f"the page does not name {self.one.holder}")
        found = None
        for path in sorted((scratch / "run").glob("*/[0-9]*-oom.pickle")):
            done = subprocess.run([plimsoll, "diagnose", "--json", str(path)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            found = json.loads(done.stdout)["verdict"] if done.stdout else None
            break
        expected = catalogue.verdict_of(self.one.label, self.one.cause)
        if self.one.label in ("leak", "oom", "fragmented"):
            self.check(found == expected, f"the verdict is {found}, not {expected}")


def first_difference(own, mixed):
    own, mixed = own.splitlines(), mixed.splitlines()
    for number, line in enumerate(mixed):
        if number >= len(own) or own[number] != line:
            was = own[number][:160] if number < len(own) else b"(end)"
            return f"line {number + 1} is {line[:160]!r}, was {was!r}"
    return f"{len(own) - len(mixed)} lines are missing"


def check(one, plimsoll, python):
    result = Result(one)
    result.skipped = walker.missing(one, python)
    if result.skipped:
        return result
    with tempfile.TemporaryDirectory(prefix="check_runs.") as folder:
        scratch = pathlib.Path(folder)
        result.plain = rehearsed(one, plimsoll, python, scratch)
        result.run = watched(one, plimsoll, python, scratch)
        result.seconds = result.run.seconds
        result.output()
        if one.ends == "OutOfMemoryError":
            result.verdict(plimsoll, scratch)
            result.holder(Failure(scratch / "run"))
        elif one.label == "healthy":
            failed = [path.name for path in (scratch / "run").glob("*/*-oom.json")]
            result.check(not failed, f"a healthy program has {failed}")
        wrong = [words for path in (scratch / "run").glob("*/process.json")
                 for words in (walker.load(path) or {}).get("warnings", ["torn process.json"])]
        result.check(not wrong, f"the recorder warns: {wrong}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    walker.add_arguments(parser)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    arguments = parser.parse_args()
    names = arguments.only or (QUICK if arguments.quick else None)
    print(f"{'run':28}{'label':11}{'named':>7}{'held':>7}{'checks':>7}{'s':>7}", flush=True)
    work = functools.partial(check, plimsoll=walker.absolute(arguments.plimsoll),
                             python=walker.absolute(arguments.python))
    return walker.total(walker.walk(work, walker.chosen_of(names, RUNS), arguments.jobs))


if __name__ == "__main__":
    sys.exit(main())
