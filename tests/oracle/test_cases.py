#!/usr/bin/env python3
"""Runs `plimsoll inspect --json` on every synthetic snapshot of make_cases.py.

    test_cases.py PLIMSOLL FOLDER [--seconds N] [--rss-mib N] [--only TEXT]

Good files must give the figures of the oracle; hostile, broken and odd ones must end in the right
status, with one line on stderr, soon and in little memory. Limits are per file; 0 means none
(builds with sanitizers need room).
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

from inspect_oracle import differences, only_file
from running import run_measured

HERE = os.path.dirname(os.path.abspath(__file__))
NO_LIMIT_SECONDS = 3600


def complaints_about_line(run, case):
    """What is wrong with the stderr of a run that ended in status 3."""
    text = run.stderr.decode("utf-8", "replace")
    lines = text.splitlines()
    if len(lines) != 1 or not lines[0].strip():
        yield f"{len(lines)} lines on stderr instead of one: {text[:300]!r}"
        return
    if any(ord(char) < 32 or ord(char) == 127 for char in lines[0]):
        yield f"control characters on stderr: {lines[0][:200]!r}"
    for name in case.get("names", []):
        if name not in lines[0]:
            yield f"stderr does not name {name}: {lines[0][:200]!r}"
    if case["kind"] == "refused":
        numbers = [
            int(number, 0) for number in re.findall(r"\b0x[0-9a-f]+|\b[1-9]\d*\b|\b0\b", lines[0])
        ]
        if case["offset"] not in numbers:
            yield f"stderr does not name byte offset {case['offset']}: {lines[0][:200]!r}"


def complaints_about_figures(run, case):
    try:
        figures = only_file(run.stdout)
    except ValueError as error:
        yield str(error)
        return
    if "expected" in case:
        yield from differences(case["expected"], figures, case.get("skip", ()))


def complaints(run, case, limits):
    """Everything that is wrong with one run."""
    allowed = {"good": (0,), "refused": (3,), "corrupt": (3,), "robust": (0, 3)}[case["kind"]]
    if run.timed_out:
        yield f"still running after {run.seconds:.1f} s"
        return
    if limits.rss_mib and run.rss_mib > limits.rss_mib:
        yield f"took {run.rss_mib:.0f} MiB"
    if run.status not in allowed:
        said = run.stderr.decode("utf-8", "replace").strip()
        yield f"status {run.status} instead of {' or '.join(map(str, allowed))}: {said[-300:]}"
    elif run.status == 3:
        yield from complaints_about_line(run, case)
    else:
        yield from complaints_about_figures(run, case)


def check(case, folder, limits):
    path = os.path.join(folder, case["file"])
    run = run_measured(
        [limits.plimsoll, "inspect", "--json", path], limits.seconds or NO_LIMIT_SECONDS
    )
    return case, run, list(complaints(run, case, limits))


def make_cases(folder):
    """The cases, made by another process so that this one stays small."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, os.path.join(HERE, "make_cases.py"), folder], check=True)
    with open(os.path.join(folder, "manifest.json"), encoding="ascii") as manifest:
        return json.load(manifest)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plimsoll")
    parser.add_argument("folder", help="made anew, and left behind for a look")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rss-mib", type=float, default=200)
    parser.add_argument("--only", default="", help="only files whose name contains this")
    return parser.parse_args(arguments)


def main(arguments):
    limits = parse_arguments(arguments)
    folder = os.path.join(limits.folder, "oracle-cases")
    cases = [case for case in make_cases(folder) if limits.only in case["file"]]
    totals = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, run, wrong in pool.map(lambda case: check(case, folder, limits), cases):
            passed_and_failed = totals.setdefault(case["kind"], [0, 0])
            passed_and_failed[bool(wrong)] += 1
            if wrong:
                print(f"FAIL {case['kind']} {case['file']} ({case['why']})")
                for line in wrong[:8]:
                    print(f"     {line}")
    for kind, (passed, failed) in totals.items():
        print(f"{kind}: {passed} passed, {failed} failed")
    all_passed, all_failed = (sum(column) for column in zip(*totals.values())) if totals else (0, 0)
    print(f"[  PASSED  ] {all_passed} test(s).")  # as cmocka says it, for tools/totals
    if all_failed:
        print(f"[  FAILED  ] {all_failed} test(s).")
    return 1 if all_failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
