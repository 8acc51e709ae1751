#!/usr/bin/env python3
"""test_changes.py - a program patched with the diffs of changes needs what it needs under --with.

usage: test_changes.py PLIMSOLL

The peak of the patched program, rehearsed plain, is that of the program as it was under --with,
within 1 %; on the CPU, for real, its losses are those of the program as it was.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from rehearsals import IS_SHORT, PYTHON, ROOT, Rehearsed, skip_without_torch

PROGRAM = pathlib.Path(__file__).resolve().parent / "plain_loop.py"
CHANGING = ROOT / "src" / "agent" / "changing.py"
# (stack, how far the patched program's peak may lie below)
STACKS = [
    (("autocast=bf16",), 0.01),
    (("set_to_none",), 0.01),
]
SAME_LOSSES = 2e-3  # of the CPU, where torch.autocast("cuda") does nothing


class Patched(unittest.TestCase):
    plimsoll = ""

    def reports(self, techniques, folder):
        out = os.path.join(folder, "run")
        subprocess.run([self.plimsoll, "run", "--gpu=h100", f"--output={out}",
                        *(f"--with={one}" for one in techniques), "--", PYTHON, "train.py"],
                       cwd=folder, capture_output=True, check=True)
        return [path.read_text() for path in pathlib.Path(out, "with").glob("*.json")]

    def patch(self, techniques, folder):
        request = {"techniques": techniques, "reports": self.reports(techniques, folder),
                   "folder": folder, "argv": ["python", "train.py"]}
        result = subprocess.run([PYTHON, "-B", CHANGING], input=json.dumps(request),
                                capture_output=True, text=True, check=True)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["left_out"], [], [one["note"] for one in answer["techniques"]])
        subprocess.run(["patch", "-p1"], input=answer["diff"] + "\n", text=True, cwd=folder,
                       capture_output=True, check=True)

    def losses(self, folder):
        result = subprocess.run([self.plimsoll, "run", "--gpu=h100", "--no-recorder", "--", PYTHON,
                                 "train.py", "cpu"], cwd=folder, capture_output=True, text=True,
                                check=True)
        return [float(one) for one in re.findall(r"loss (\S+)", result.stdout)]

    def test_peaks_and_losses(self):
        plain_losses = None
        for techniques, below in STACKS[:1] if IS_SHORT else STACKS:
            with self.subTest(techniques), tempfile.TemporaryDirectory() as folder:
                script = pathlib.Path(folder, "train.py")
                script.write_text(PROGRAM.read_text())
                if plain_losses is None:
                    plain_losses = self.losses(folder)
                wanted = Rehearsed(self.plimsoll, str(script), techniques).allocated
                self.patch(techniques, folder)
                found = Rehearsed(self.plimsoll, str(script)).allocated
                self.assertLessEqual(found, 1.01 * wanted)
                self.assertGreaterEqual(found, (1 - below) * wanted)
                losses = self.losses(folder)
                self.assertEqual(len(losses), len(plain_losses))
                for one, other in zip(losses, plain_losses):
                    self.assertAlmostEqual(one, other, delta=SAME_LOSSES * abs(other))


if __name__ == "__main__":
    skip_without_torch()
    Patched.plimsoll = os.path.abspath(sys.argv.pop(1))
    unittest.main()
