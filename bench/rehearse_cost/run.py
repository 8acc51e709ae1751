#!/usr/bin/env python3
"""What a rehearsal takes: GPT-2 with 124 million parameters, batch 8, sequence 1024, two steps.

    run.py --plimsoll PROGRAM [--against PROGRAM] [--quick] [--rounds N]

Rehearses examples/rehearse/train_gpt.py with the Python in PLIM_TORCH_PYTHON, all processes
counted; with --against in turns with another build, whose share is what matters on a machine that
does other work: "ratio" is the first's CPU time by the other's, of pairs that ran one after
another. Processor time, not the clock, is what a busy machine leaves alone.

Prints one JSON document; says why where there is no Python with PyTorch.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
from measuring import column, machine, median, options_parse, run, spread  # noqa: E402

PROGRAM = os.path.join(HERE, os.pardir, os.pardir, "examples", "rehearse", "train_gpt.py")
SIZES = {False: ("--size", "124M", "--batch", "8", "--sequence", "1024", "--steps", "2"),
         True: ("--size", "tiny", "--batch", "1", "--sequence", "64", "--steps", "1")}


def main():
    options, is_quick, rounds = options_parse(sys.argv[1:], "--against")
    document = {"benchmark": "rehearse_cost", "machine": machine(), "rounds": rounds}
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        document["skipped"] = "PLIM_TORCH_PYTHON names no Python with PyTorch"
        print(json.dumps(document), flush=True)
        return

    def rehearse(plimsoll):
        words = [plimsoll, "rehearse", "--json", "--gpu=rtx4090", "--", python, PROGRAM,
                 *SIZES[is_quick]]
        return run(words)[1]

    taken = {"--plimsoll": [], "--against": []}
    for _ in range(rounds):
        for name, of_it in taken.items():
            if options[name] is not None:
                of_it.append(rehearse(options[name]))
    document["rehearsal"] = column(taken["--plimsoll"])
    if taken["--against"]:
        document["against"] = column(taken["--against"])
        ratios = [one["cpu_seconds"] / other["cpu_seconds"]
                  for one, other in zip(taken["--plimsoll"], taken["--against"])]
        document["ratio"] = {**spread(ratios), "median": round(median(ratios), 3)}
    print(json.dumps(document), flush=True)


main()
