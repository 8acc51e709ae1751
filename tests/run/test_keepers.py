#!/usr/bin/env python3
"""test_keepers.py PLIMSOLL [all | NAME...]: who keeps memory, in programs written as others write.

Each program in keepers/ runs out of memory over the stand-ins, under `plimsoll run`. Its first
lines name the object that keeps it; a comment marks the line that allocates what is kept. The page
has to name both, and a holder of that name has to hold most. Needs a Python with PyTorch in
PLIM_TORCH_PYTHON; a few programs alone run without an argument, with PLIM_TORCH_SHORT one.
"""
import functools
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import truths  # noqa: E402

PLIMSOLL = sys.argv[1]
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
DEVICE = ("--gpu=h100", "--devices=1", "--capacity=1GiB")
SOME = ("cached_method", "trainer_history", "spawned")
SHORT = ("cached_method",)
OTHERWISE = SHORT if os.environ.get("PLIM_TORCH_SHORT") else SOME
CHOSEN = truths.NAMES if sys.argv[2:] == ["all"] else sys.argv[2:] or OTHERWISE


@unittest.skipUnless(PYTHON, "PLIM_TORCH_PYTHON names no Python with PyTorch")
class Keepers(unittest.TestCase):
    maxDiff = None

    def hold(self, name):
        wrong, _, page = truths.examine(PLIMSOLL, PYTHON, name, DEVICE)
        self.assertEqual(wrong, [], page)


for _name in CHOSEN:
    setattr(Keepers, f"test_{_name}", functools.partialmethod(Keepers.hold, _name))


class Truths(unittest.TestCase):
    def test_every_program_says_what_is_true_of_it(self):
        self.assertGreater(len(truths.NAMES), 20)
        for name in truths.NAMES:
            with self.subTest(name):
                self.assertTrue(truths.Truth(name).line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
