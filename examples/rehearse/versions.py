#!/usr/bin/env python3
"""Rehearse a few programs with several versions of PyTorch, and print what held.

    versions.py PLIMSOLL PYTHON...
    versions.py build/release/plimsoll $(tools/torch-python 2.1.2) $(tools/torch-python newest)

For each Python a row of a table: `yes` where the verdict is the expected one, PyTorch's own
counters and the document agree to the byte, all phases that the program has were seen and the
agent has nothing to note; otherwise the first thing that was wrong. Exit status 1 if anything was.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TINY = "train_gpt.py --size tiny --batch 4 --sequence 256 --steps 3"
TRAINED = {"setup", "forward", "backward", "optimizer"}
RANKS = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]

# name, options, what starts it, program, verdict, phases
CASES = (
    ("eager, --steps, --record", ["--steps=2", "--record=recording.pickle"], [], TINY, "fits",
     TRAINED),
    ("autocast, scaler, checkpointing", [], [], TINY + " --autocast fp16 --checkpoint 1", "fits",
     TRAINED),
    ("private pool", [], [], TINY + " --graph", "fits", TRAINED),
    ("two ranks", ["--devices=2"], RANKS, "train_ddp.py --size tiny --sequence 256", "fits",
     TRAINED),
    ("out of memory", ["--capacity=3GiB", "--no-retry"], [], "train_gpt.py --batch 8",
     "out_of_memory", {"setup", "forward"}),
    ("torch.compile", [], [], TINY + " --compile", "fits", TRAINED),
)


def load(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def wrong_with(document, marks, verdict, phases, scratch, options):
    """The first thing that does not hold, or None."""
    if document is None:
        return "no document"
    if document["verdict"] != verdict:
        return document["verdict"]
    processes = [process for process in document["processes"] if process["devices"]]
    if not processes:
        return "no device used"
    for process in processes:
        if process["warnings"]:
            return process["warnings"][0]
    device = processes[0]["devices"][0]
    missing = phases - {phase["phase"] for phase in device["phases"]}
    if missing:
        return "no phase " + ", ".join(sorted(missing))
    if marks and device["peak_allocated_bytes"] != marks["peak"]["allocated"]:
        return "another peak than PyTorch's"
    if any("--record" in option for option in options):
        if not (scratch / "recording.pickle").exists():
            return "no recording"
    return None


def rehearse(plimsoll, python, case):
    name, options, start, program, verdict, phases = case
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        file, *arguments = program.split()
        command = [plimsoll, "rehearse", "--json", "--gpu=a100-80gb", *options, "--", python,
                   *start, str(HERE / file), *arguments, "--json", str(scratch / "marks.json")]
        ran = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        try:
            document = json.loads(ran.stdout)
        except ValueError:
            document = None
        wrong = wrong_with(document, load(scratch / "marks.json"), verdict, phases, scratch,
                           options)
        version = document["processes"][0]["torch"] if document and document["processes"] else "?"
        return version, wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    plimsoll = str(pathlib.Path(sys.argv[1]).resolve())
    print("| PyTorch |", " | ".join(case[0] for case in CASES), "|")
    print("|---" * (len(CASES) + 1) + "|", flush=True)
    failed = False
    for python in sys.argv[2:]:
        cells = []
        version = "?"
        for case in CASES:
            found, wrong = rehearse(plimsoll, python, case)
            version = found if found != "?" else version
            cells.append(wrong or "yes")
        failed = failed or any(cell != "yes" for cell in cells)
        print(f"| {version} |", " | ".join(cells), "|", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
