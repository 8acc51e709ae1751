#!/usr/bin/env python3
"""test_activations.py PLIMSOLL - recomputing, offloading and chunked losses give the same result.

programs/small.py is run for real on the CPU, plain and under techniques: losses of 20 steps,
buffers and what calls counted.
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "small.py")
TOLERANCE = 1e-5  # relative; of losses in pieces, by the order of sums

# (arguments, techniques, tolerance, states)
ROWS = [
    ("gpt", ["checkpoint", "loss=chunked:4"], TOLERANCE, ["applied", "applied"]),
    ("gpt", ["checkpoint"], 0, ["applied"]),
    ("gpt", ["offload=all_saved"], 0, ["no_effect"]),
    ("gpt", ["offload=layer_inputs"], 0, ["applied"]),
    ("norm", ["checkpoint"], 0, ["applied"]),
    ("norm", ["loss=chunked"], 0, ["refused"]),
    ("gpt --own", ["loss=chunked:4"], 0, ["no_effect"]),
    ("gpt --compile", ["checkpoint", "loss=chunked:4"], 0, ["refused", "refused"]),
    ("gpt --compile --pure", ["checkpoint"], 0, ["applied"]),
]
SHORT = (0, 4)


class Ran:
    """One run: lines, states by technique; rc."""

    def __init__(self, plimsoll, arguments, techniques):
        with tempfile.TemporaryDirectory() as scratch:
            result = subprocess.run(
                [plimsoll, "run", "--gpu=h100", "--quiet", f"--output={scratch}/run",
                 *(f"--with={technique}" for technique in techniques),
                 "--", rehearsals.PYTHON, PROGRAM, *arguments.split()],
                capture_output=True, text=True, check=False)
            self.rc, self.errors = result.returncode, result.stderr
            self.lines = result.stdout.splitlines()
            self.entries = []
            for path in glob.glob(f"{scratch}/run/with/*.json"):
                with open(path, encoding="utf-8") as file:
                    self.entries += json.load(file)["techniques"]


def is_near(line, other, tolerance):
    def figures(text):
        return [float(word) for word in re.findall(r"-?\d+\.\d+", text)]
    return line == other or tolerance and all(
        abs(one - two) <= tolerance * max(1, abs(two))
        for one, two in zip(figures(line), figures(other)))


class Activations(unittest.TestCase):
    plimsoll = None

    def test_results_are_those_of_the_plain_program(self):
        rows = [ROWS[at] for at in SHORT] if rehearsals.IS_SHORT else ROWS
        commands = list(dict.fromkeys(row[0] for row in rows))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            plain = dict(zip(commands, pool.map(
                lambda command: Ran(self.plimsoll, command, []), commands)))
            runs = pool.map(lambda row: Ran(self.plimsoll, row[0], row[1]), rows)
            for row, run in zip(rows, runs):
                with self.subTest(row[:2]):
                    self.check(run, plain[row[0]], *row[2:])

    def check(self, run, plain, tolerance, states):
        self.assertEqual((run.rc, plain.rc), (0, 0), run.errors + plain.errors)
        self.assertEqual(len(run.lines), len(plain.lines))
        for line, other in zip(run.lines, plain.lines):
            self.assertTrue(is_near(line, other, tolerance), f"{line!r}, plain {other!r}")
        self.assertEqual([entry["state"] for entry in run.entries], states, run.entries)


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Activations.plimsoll = sys.argv.pop(1)
    unittest.main()
