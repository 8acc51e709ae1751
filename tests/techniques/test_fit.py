#!/usr/bin/env python3
"""test_fit.py PLIMSOLL - `plimsoll fit` over real PyTorch, and the program then started for real.

The program computes on the CPU where its GPU is not an RTX 4090. So all of this runs over the
stand-ins for a T4, which hold what PyTorch loads; the rehearsals in it have an RTX 4090.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "fit_tiny.py"


def run_fit(folder, *options):
    words = [PLIMSOLL, "run", "--gpu=t4", "--no-recorder", "--",
             PLIMSOLL, "fit", "--color=never", "--gpu=rtx4090", "--document=fit.json", "--apply",
             *options, "--", rehearsals.PYTHON, str(PROGRAM)]
    temporary = pathlib.Path(folder, "tmp")
    temporary.mkdir()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600,
                          check=False, env={**os.environ, "TMPDIR": str(temporary),
                                            "XDG_STATE_HOME": folder, "LC_ALL": "C.UTF-8"})
    document = json.loads(pathlib.Path(folder, "fit.json").read_text(encoding="utf-8"))
    left = [path.name for path in temporary.iterdir()]
    return done, document, left


def losses(output):
    return [float(value) for value in re.findall(r"loss cpu ([\d.]+)", output)]


class Fit(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    @unittest.skipUnless(rehearsals.IS_SHORT, "the other has all of it")
    def test_what_fits_is_started_as_it_is(self):
        done, told, left = run_fit(self.folder, "--capacity=8GiB")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual((told["cheapest"], len(told["trials"])), (0, 1))
        self.assertGreater(told["trials"][0]["model_seconds"], 0)
        self.assertEqual(len(losses(done.stdout)), 3)
        self.assertEqual(left, [])

    @unittest.skipIf(rehearsals.IS_SHORT, "the short run")
    def test_a_stack_is_found_confirmed_and_started(self):
        done, told, left = run_fit(self.folder, "--capacity=1020MiB",
                                   "--only=autocast,set_to_none,accumulate=2")
        answers = {one["techniques"][0]["technique"]: one for one in told["trials"][1:]}
        self.assertEqual(done.returncode, 5, done.stderr + done.stdout)
        self.assertEqual(answers["set_to_none"]["answer"], "no_effect")
        self.assertEqual(answers["autocast=bf16"]["answer"], "broken")
        self.assertEqual(answers["autocast=bf16"]["reason"], "AssertionError: this needs float32")
        best = told["trials"][told["cheapest"]]
        self.assertEqual([one["technique"] for one in best["techniques"]], ["accumulate=2"])
        self.assertTrue(best["is_confirmed"])
        self.assertLess(best["peak_device_bytes"], 1020 << 20)
        self.assertIn("chunk(2)", told["changes"][0]["pytorch"])
        page, _, after = done.stdout.partition("loss cpu")
        self.assertIn("It fits with accumulate=2", page)
        self.assertEqual(len(losses("loss cpu" + after)), 3)
        self.assertNotIn("--with", done.stderr)  # it took hold: nothing is to be said
        self.assertEqual(left, [])


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    unittest.main()
