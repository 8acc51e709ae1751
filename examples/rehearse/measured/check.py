#!/usr/bin/env python3
"""Rehearse what others measured on GPUs, and compare.

    check.py PLIMSOLL PYTHON [ID...]    with one Python; rows of other versions are not judged
    check.py PLIMSOLL each [ID...]      each row with its own PyTorch, as tools/torch-python has it
    check.py --committed                nothing is rehearsed: what the table says is judged

Rows are in measurements.tsv, whose columns README.md describes; an ID may be the beginning of
several. With --write the columns `rehearsed_bytes`, `difference`, `low_bytes` and `high_bytes`
become what was found. Exit status 1: outside of what must hold; 77: nothing could be rehearsed.
"""

import argparse
import csv
import functools
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "measurements.tsv"
TOOL = HERE.parents[2] / "tools" / "torch-python"
MEDIAN_EXACT, MEDIAN_DEVICE = 0.001, 0.04  # of relative errors, at most
NEAR, NEAR_SHARE = 0.01, 0.95  # so many rows of allocated and reserved are so near
BAR_SHARE = 0.9  # so many device figures lie within their bar
SAME = 0.001  # of what the table says was rehearsed
CLASSES = ("yes", "inferred", "no")  # of the column `matched`


def read_table():
    with open(TABLE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_table(rows):
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE,
                                quotechar=None, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@functools.cache
def python_of(version):
    """A Python with this PyTorch, or None."""
    found = subprocess.run([TOOL, version], stdout=subprocess.PIPE, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


@functools.cache
def rehearse(plimsoll, python, options, program):
    """(document of the rehearsal, what the program's own counters said), or a reason."""
    words = shlex.split(program)
    environment = [word for word in words if "=" in word and not word.startswith("-")]
    words = words[len(environment):]
    with tempfile.TemporaryDirectory() as folder:
        marks = pathlib.Path(folder) / "marks.json"
        command = [plimsoll, "rehearse", "--json", *shlex.split(options), "--", "env",
                   *environment, python, *words, "--json", str(marks)]
        ran = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        try:
            return json.loads(ran.stdout), json.loads(marks.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            said = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
            return f"cannot be rehearsed: {said[-1]}", None


def figure(row, document, marks):
    """(bytes, (low, high) or None) of the quantity in a row."""
    what, _, where = row["quantity"].partition(" ")
    if what == "device":
        bar, above = document["peak_device"], 0
        if where == "with the driver's share":
            device = document["devices"][0]
            above = device["nvml_v1_peak_bytes"] - device["peak_bytes"]
        return bar["expected_bytes"] + above, (bar["low_bytes"] + above, bar["high_bytes"] + above)
    if where == "peak":
        return marks["peak"][what], None
    (mark,) = (mark for mark in marks["marks"] if mark["name"] == where.removeprefix("at "))
    return mark[what], None


class Found:
    """What came of a row."""

    def __init__(self, row, is_own_version):
        self.row, self.is_own_version = row, is_own_version
        self.bytes = self.bar = self.reason = None

    @property
    def difference(self):
        measured = int(self.row["measured_bytes"])
        return (self.bytes - measured) / measured

    @property
    def error(self):
        """Without what the last printed digit may hide."""
        measured = int(self.row["measured_bytes"])
        return max(0, abs(self.bytes - measured) - int(self.row["resolution_bytes"]) / 2) / measured

    @property
    def is_device(self):
        return self.row["quantity"].startswith("device")

    @property
    def is_judged(self):
        return self.counts and self.row["matched"] != "no"

    @property
    def counts(self):
        return self.bytes is not None and self.is_own_version

    def is_in_bar(self):
        slack = int(self.row["resolution_bytes"]) / 2
        measured = int(self.row["measured_bytes"])
        return self.bar[0] - slack <= measured <= self.bar[1] + slack


def look(row, options):
    python, is_own = options.python, True
    if options.committed:
        found = Found(row, is_own)
        found.bytes = int(row["rehearsed_bytes"])  # every row has been rehearsed once
        if row["low_bytes"]:
            found.bar = int(row["low_bytes"]), int(row["high_bytes"])
        return found
    if python == "each":
        python = python_of(row["rehearsed_with"])
    found = Found(row, is_own)
    if python is None:
        found.reason = f"there is no PyTorch {row['rehearsed_with']} here"
        return found
    document, marks = rehearse(options.plimsoll, python, row["options"], row["program"])
    if marks is None:
        found.reason = document
        return found
    found.is_own_version = marks["torch"].split("+")[0] == row["rehearsed_with"]
    found.bytes, found.bar = figure(row, document, marks)
    return found


def line(found):
    row = found.row
    start = f"{row['id']:26}{row['quantity'].split()[0]:10}{int(row['measured_bytes']):>15,}"
    if found.bytes is None:
        return f"{start}  {found.reason}"
    judged = "" if found.is_judged else "  not judged"
    if found.is_judged and found.bar and not found.is_in_bar():
        judged = "  outside the bar"
    return f"{start}{found.bytes:>16,}{found.difference:>+10.3%}{judged}"


def summary(all_found, matched):
    """Lines about the rows of one class."""
    lines = []
    rows = [found for found in all_found if found.counts and found.row["matched"] == matched]
    for what in ("allocated", "reserved", "device"):
        some = [found for found in rows if found.row["quantity"].startswith(what)]
        if not some:
            continue
        errors = [found.error for found in some]
        near = sum(error <= NEAR for error in errors)
        words = (f"{matched}, {what}: of {len(some)}, median {statistics.median(errors):.3%}, "
                 f"worst {max(errors):.2%}, {near} within {NEAR:.0%}")
        barred = [found for found in some if found.bar]
        if barred:
            inside = sum(found.is_in_bar() for found in barred)
            words += f", {inside} of {len(barred)} within the bar"
        lines.append(words)
    return lines


def judge(all_found):
    """What does not hold, of the rows that are judged, class by class."""
    wrong = []

    def must(holds, words):
        if not holds:
            wrong.append(words)

    for matched in CLASSES[:2]:
        judged = [found for found in all_found
                  if found.is_judged and found.row["matched"] == matched]
        for what, most in (("allocated", MEDIAN_EXACT), ("reserved", MEDIAN_EXACT),
                           ("device", MEDIAN_DEVICE)):
            errors = [found.error for found in judged if found.row["quantity"].startswith(what)]
            median = statistics.median(errors or [0])
            must(median <= most, f"{matched}, {what}: median {median:.3%}")
        near = [found.error <= NEAR for found in judged if not found.is_device]
        must(sum(near) >= NEAR_SHARE * len(near),
             f"{matched}, within {NEAR:.0%}: {sum(near)} of {len(near)}")
        inside = [found.is_in_bar() for found in judged if found.bar]
        must(sum(inside) >= BAR_SHARE * len(inside),
             f"{matched}, within the bar: {sum(inside)} of {len(inside)}")
    for found in all_found:
        name = found.row["id"]
        if not found.counts:
            continue
        must(found.error <= NEAR or found.row["explanation"],
             f"{name}: {found.difference:+.2%}, without an explanation")
        before = found.row["rehearsed_bytes"]
        if before and not found.is_device:
            must(abs(found.bytes - int(before)) <= SAME * int(before),
                 f"{name}: rehearsed {found.bytes:,}, the table says {int(before):,}")
    return wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plimsoll", nargs="?")
    parser.add_argument("python", nargs="?")
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--write", action="store_true", help="put what was found into the table")
    parser.add_argument("--committed", action="store_true", help="judge what the table says")
    options = parser.parse_args()
    if options.committed:
        return options
    if options.python is None:
        parser.error("PLIMSOLL and PYTHON are wanted")
    options.plimsoll = str(pathlib.Path(options.plimsoll).resolve())
    return options


def main():
    options = parse()
    rows = read_table()
    all_found = []
    for row in rows:
        if options.ids and not row["id"].startswith(tuple(options.ids)):
            continue
        found = look(row, options)
        all_found.append(found)
        print(line(found), flush=True)
    if not any(found.bytes for found in all_found):
        sys.exit(77)
    said = [line for matched in CLASSES for line in summary(all_found, matched)]
    wrong = judge(all_found)
    print("", *said, *(f"WRONG: {words}" for words in wrong), sep="\n")
    if options.write:
        for found in all_found:
            if found.counts:
                found.row["rehearsed_bytes"] = found.bytes
                found.row["difference"] = f"{found.difference:+.3%}"
                found.row["low_bytes"], found.row["high_bytes"] = found.bar or ("", "")
        write_table(rows)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
