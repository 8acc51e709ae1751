#!/usr/bin/env python3
"""test_costs.py COST_TOOL HOME - the counted work of real programs, beside what it must be.

HOME is the folder of the stand-ins. Needs a Python that has PyTorch for CUDA, in PLIM_TORCH_PYTHON.
With PLIM_TORCH_SHORT the work of GPT-2 alone is looked at.
"""
import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest

PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
IS_SHORT = bool(os.environ.get("PLIM_TORCH_SHORT"))
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rehearse"
GPT = "train_gpt.py", "--batch", "4"
SMALL = *GPT, "--layers", "3"
LAYERS, WIDTH, VOCABULARY, TOKENS, SEQUENCE = 12, 768, 50257, 4 * 1024, 1024
BLOCK = 12 * WIDTH ** 2  # weights of a block's products


@functools.lru_cache(maxsize=None)
def rehearsed(*program, counts="yes"):
    done = subprocess.run([TOOL, "a100-80gb,rtx4090", "-", counts, PYTHON,
                           str(EXAMPLES / program[0]), *program[1:]], capture_output=True,
                          text=True, timeout=300, env={**os.environ, "PLIM_HOME": HOME})
    return json.loads(done.stdout[done.stdout.index('{"allocated"'):])


def flops(*program, name=""):
    return sum(row["flops"] * row["count"] for row in rehearsed(*program)["operations"]
               if name in row["name"])


class Work(unittest.TestCase):
    def test_gpt2_computes_six_times_weights_and_tokens(self):
        """And attention: half of 4·T²·width forward, two and a half times that backward."""
        weights = LAYERS * BLOCK + VOCABULARY * WIDTH
        attention = LAYERS * 3.5 * 2 * TOKENS * SEQUENCE * WIDTH
        self.assertAlmostEqual(flops(*GPT) / (6 * weights * TOKENS + attention), 1, delta=0.005)

    def test_it_is_the_second_step(self):
        self.assertEqual(rehearsed(*GPT)["step"], 2)
        self.assertEqual(rehearsed(*GPT)["why_unknown"], "")

    @unittest.skipIf(IS_SHORT, "PLIM_TORCH_SHORT")
    def test_peaks_are_those_of_a_rehearsal_that_does_not_count(self):
        for more in ((), ("--autocast", "bf16", "--checkpoint", "1")):
            counted, plain = (rehearsed(*SMALL, *more, counts=counts) for counts in ("yes", "no"))
            for peak in ("allocated", "reserved", "device"):
                self.assertEqual(counted[peak], plain[peak], (more, peak))

    @unittest.skipIf(IS_SHORT, "PLIM_TORCH_SHORT")
    def test_checkpointing_adds_the_forward_pass_of_blocks(self):
        """But for the last product of each: PyTorch stops where nothing more is needed."""
        added = flops(*SMALL, "--checkpoint", "1") - flops(*SMALL)
        attention = 2 * TOKENS * SEQUENCE * WIDTH
        self.assertEqual(added, 3 * (2 * (BLOCK - 4 * WIDTH ** 2) * TOKENS + attention))

    @unittest.skipIf(IS_SHORT, "PLIM_TORCH_SHORT")
    def test_optimizers_on_the_host_work_there(self):
        plain, there = rehearsed(*SMALL), rehearsed(*SMALL, "--offload", "optimizer")
        weights = 3 * BLOCK + VOCABULARY * WIDTH
        self.assertLess(plain["host"], 4096)  # numbers of steps
        self.assertGreater(there["host"], 28 * weights)
        self.assertGreater(there["to_host"], 4 * weights)
        self.assertGreater(there["cost"]["a100-80gb"]["step"], 0)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python")
        sys.exit(77)
    TOOL, HOME = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
