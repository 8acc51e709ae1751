#!/usr/bin/env python3
"""test_calibrate.py PLIMSOLL - tools/gpu/calibrate over the stand-ins, which have known figures.

A GPU is rehearsed, so what calibrate measures must be what the table of GPUs says. Needs a Python
that has PyTorch for CUDA, in PLIM_TORCH_PYTHON; what needs none runs without.
"""
import os
import pathlib
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv[1]
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CALIBRATE = ROOT / "tools" / "gpu" / "calibrate"
MIB = 1 << 20


def table_row(section, name):
    """A row of gpus.tsv as a dict."""
    text = (ROOT / "src" / "gpus" / "gpus.tsv").read_text().split(f"[{section}]\n")[1]
    return row_of(text, name)


def row_of(text, name):
    lines = [line.split("\t") for line in text.splitlines()]
    return next(dict(zip(lines[0], line)) for line in lines[1:] if line[0] == name)


class WithoutAGpu(unittest.TestCase):
    def check(self, python):
        done = subprocess.run([python, CALIBRATE], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("calibrate: "), done.stderr)

    def test_it_fails_with_one_line(self):
        self.check(sys.executable)

    @unittest.skipUnless(PYTHON, "PLIM_TORCH_PYTHON names no Python")
    def test_so_it_does_where_pytorch_finds_none(self):
        self.check(PYTHON)


@unittest.skipUnless(PYTHON, "PLIM_TORCH_PYTHON names no Python")
class Rehearsed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PLIMSOLL, "rehearse", "--gpu=rtx4090", "--", PYTHON, CALIBRATE],
                              capture_output=True, text=True, timeout=600)
        cls.output = done.stdout
        cls.error = done.stderr

    def section(self, name):
        self.assertIn(f"[{name}]\n", self.output, self.error)
        return self.output.split(f"[{name}]\n")[1].split("\n\n")[0]

    def test_the_row_is_that_of_the_table(self):
        mine = row_of(self.section("gpus"), "rtx-4090")
        theirs = table_row("gpus", "rtx4090")
        self.assertEqual(list(mine), list(theirs))
        for column in set(mine) - {"key", "aliases", "source"}:
            self.assertEqual(mine[column], theirs[column], column)

    def test_libraries_are_those_of_the_table(self):
        mine = row_of(self.section("capabilities"), "8.9")
        theirs = table_row("capabilities", "8.9")
        for column in ("kernels_mib", "cublas_mib", "cudnn_mib"):
            self.assertEqual(mine[column], theirs[column], column)

    def test_eager_loading_takes_more(self):
        lazy = int(row_of(self.section("process"), "context")["bytes"])
        eager = int(row_of(self.section("process"), "context, CUDA_MODULE_LOADING=EAGER")["bytes"])
        self.assertEqual(eager - lazy, 500 * MIB)

    def test_the_driver_and_convolutions_are_measured(self):
        driver = self.section("driver")
        self.assertEqual(row_of(driver, "granularity")["bytes"], str(2 * MIB))
        self.assertNotIn("failed", driver)
        rows = self.section("convolutions").splitlines()[1:]
        settings = {tuple(row.split("\t")[:4]) for row in rows}
        self.assertEqual(len(settings), len(rows))
        for benchmark in ("on", "off"):
            self.assertEqual(sum(row.split("\t")[3] == benchmark for row in rows), 72)
        self.assertTrue(all(int(row.split("\t")[4]) >= 0 for row in rows))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
