#!/usr/bin/env python3
"""check_fit.py PLIMSOLL [NAME...] - fit finds a stack for known programs, and no guide's is cheaper.

For each program of guides.py: the search, with the guides' stacks rehearsed beside it (--also). The
answer must be confirmed with the GPU's own memory, and none of the guides' stacks that fit may be
cheaper by the model. Prints the answer, the rehearsals, and the seconds, those of imports apart
(as a rehearsal that imports PyTorch alone takes them). Minutes each: make check-fit.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import guides

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rehearse"
AT_A_TIME = 2  # rehearsals


def run(words):
    """(seconds, what it printed)"""
    begin = time.monotonic()
    done = subprocess.run(words, cwd=EXAMPLES, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    return time.monotonic() - begin, done


def import_seconds(plimsoll, python):
    return run([plimsoll, "rehearse", "--gpu=h100", "--", python, "-c", "import torch"])[0]


def search(plimsoll, python, program, stacks):
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "fit.json"
        words = [plimsoll, "fit", f"--gpu={program.gpu}", f"--document={document}",
                 *(f"--also={stack}" for stack in stacks), "--", python, *program.command.split()]
        seconds, done = run(words)
        if not document.exists():
            sys.exit(f"{program.name}: {done.stderr.decode(errors='replace').strip()}")
        return seconds, json.loads(document.read_text())


def stack_of(trial):
    return " ".join(use["technique"] for use in trial["techniques"])


def judge(program, document):
    """What is wrong; empty: nothing."""
    if document["cheapest"] is None:
        return ["nothing fits"]
    trials = document["trials"]
    best = trials[document["cheapest"]]
    wrong = [] if best["is_confirmed"] else ["its answer is not confirmed"]
    for stack in program.stacks:
        wanted = sorted(stack.split())
        for trial in trials:
            if sorted(stack_of(trial).split()) != wanted:
                continue
            slowdown = trial["slowdown"]
            shown = "-" if slowdown is None else f"{slowdown:.2f}"
            print(f"    {trial['answer']:10} {shown:>5}  {stack}")
            if trial["answer"] == "fits" and slowdown < best["slowdown"] - 0.005:
                wrong.append(f"cheaper: {stack}")
    return wrong


def check(plimsoll, python, program, imports):
    seconds, document = search(plimsoll, python, program, program.stacks)
    rehearsed = sum(not trial["is_predicted"] for trial in document["trials"])
    print(f"{program.name} on {program.gpu}: {seconds:.0f} s, {rehearsed} stacks rehearsed, "
          f"{seconds - rehearsed * imports / AT_A_TIME:.0f} s beyond imports")
    if document["cheapest"] is not None:
        best = document["trials"][document["cheapest"]]
        print(f"    answer     {best['slowdown']:5.2f}  {stack_of(best)}: "
              f"{best['peak_device_bytes'] / 2**30:.2f} GiB")
    wrong = judge(program, document)
    for text in wrong:
        print(f"    WRONG: {text}")
    return not wrong


def main(plimsoll, *names):
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        sys.exit("set PLIM_TORCH_PYTHON: tools/torch-python prints it")
    plimsoll = str(pathlib.Path(plimsoll).resolve())
    imports = import_seconds(plimsoll, python)
    wanted = [one for one in guides.PROGRAMS if not names or one.name in names]
    good = [check(plimsoll, python, program, imports) for program in wanted]
    print(f"{sum(good)} of {len(good)} hold")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
