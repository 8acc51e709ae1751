#!/usr/bin/env python3
"""test_killed.py PLIMSOLL [all]: killed at any moment of a dump, no file is half there.

With a fake PyTorch at each operation on files; with that of PLIM_TORCH_PYTHON, over the stand-ins, at a
sample of them, and with `all` at each, and at many times besides.
"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import killing  # noqa: E402

PLIMSOLL = sys.argv[1]
SAMPLE, TIMES = (0, 60) if sys.argv[2:] == ["all"] else (24, 8)
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")


class Killed(unittest.TestCase):
    maxDiff = None

    def hold(self, launch, sample, times):
        with tempfile.TemporaryDirectory(prefix="killed.") as folder:
            kills = killing.hold(launch, pathlib.Path(folder), sample, times)
        print(kills.figures)
        self.assertEqual(kills.wrong, [])

    def test_at_each_operation_on_files(self):
        self.hold(killing.with_fake_torch, 0, 10)

    @unittest.skipUnless(PYTHON, "PLIM_TORCH_PYTHON names no Python with PyTorch")
    def test_in_pytorch(self):
        self.hold(killing.under_plimsoll(PLIMSOLL, PYTHON, ("--gpu=h100", "--devices=1")),
                  SAMPLE, TIMES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
