#!/usr/bin/env python3
"""test_allocator.py RUN [SCRIPT...] - holds our allocator to PyTorch's records.

Plays every script under every setting with RUN and compares with the golden records, line by
line: driver calls in their order, addresses, errors, statistics. Prints the first difference of a
script with what led to it.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import records

SHOWN = 20  # scripts whose first difference is printed
WIDTH = 400
LINES = 8  # of one operation


def play(runner, path, setting):
    """Our record of a case, or what went wrong."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PYTORCH_", "PLIMSOLL_"))}
    environment["PYTORCH_CUDA_ALLOC_CONF"] = records.SETTINGS[setting]
    done = subprocess.run([runner, path], capture_output=True, text=True, env=environment,
                          timeout=300)
    wrong = None
    if done.returncode != 0 or done.stderr:
        wrong = f"exit status {done.returncode}: {done.stderr.strip()[-2000:]}"
    return done.stdout, wrong


def shown(before, lines):
    """Lines for people: not too long, not too many."""
    cut = lines if len(lines) <= LINES else lines[:LINES] + [f"… {len(lines) - LINES} more"]
    return [before + line[:WIDTH] for line in cut]


def parted(want, have):
    """What is the same at first, and then both sides."""
    same = next((i for i, pair in enumerate(zip(want, have)) if pair[0] != pair[1]),
                min(len(want), len(have)))
    return (shown("    both:    ", want[:same]) + shown("    PyTorch: ", want[same:])
            + shown("    ours:    ", have[same:]))


def first_difference(script, want, have):
    """The operation at which two records part, with the two before it, as text; or None."""
    if want == have:
        return None
    wanted = records.by_operation(want)
    got = records.by_operation(have)
    words = records.operations(script) + ["(the end)"]
    at = next((i for i, pair in enumerate(zip(wanted, got)) if pair[0] != pair[1]),
              min(len(wanted), len(got)) - 1)
    lines = [f"operation {at + 1} of {len(words) - 1}"]
    for i in range(max(0, at - 2), at):
        lines += [f"  > {words[i]}"] + shown("      ", wanted[i])
    lines += [f"  > {words[at]}"] + parted(wanted[at], got[at])
    return "\n".join(lines)


def try_case(runner, folder, case):
    name, text, setting, want = case
    have, wrong = play(runner, pathlib.Path(folder) / f"{name}.txt", setting)
    difference = first_difference(text, records.compared(want), records.compared(have))
    return "\n".join(part for part in (difference, wrong) if part) or None


def cases_of(texts):
    """(script, text, setting, record wanted) of the cases to play."""
    cases = []
    for name, text in texts.items():
        golden = records.golden(name, text)
        cases += [(name, text, setting, golden[setting]) for setting in records.SETTINGS]
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("scripts", nargs="*")
    options = parser.parse_args()
    runner = pathlib.Path(options.run).resolve()
    texts = {name: text for name, text in records.scripts().items()
             if not options.scripts or name in options.scripts}
    cases = cases_of(texts)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, text in texts.items():
            (pathlib.Path(folder) / f"{name}.txt").write_text(text)
        results = list(pool.map(lambda case: try_case(runner, folder, case), cases))
    failed = [(case, result) for case, result in zip(cases, results) if result is not None]
    firsts = {case[0]: (case, result) for case, result in reversed(failed)}
    for (name, _, setting, _), result in list(reversed(firsts.values()))[:SHOWN]:
        print(f"--- {name} under {setting}: {result}\n")
    for name in dict.fromkeys(case[0] for case, _ in failed):
        settings = [case[2] for case, _ in failed if case[0] == name]
        print(f"differs: {name} under {', '.join(settings)}")
    played = sum(len(records.operations(case[1])) for case in cases)
    print(f"{len(cases) - len(failed)} of {len(cases)} cases equal PyTorch {records.TORCH} "
          f"({len(texts)} scripts, {len(records.SETTINGS)} settings, {played} operations)")
    if not cases:
        print("no such script")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
