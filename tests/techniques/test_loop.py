#!/usr/bin/env python3
"""test_loop.py PLIMSOLL - accumulate and batch in programs that are run for real.

    divided.py    losses of trainings of many shapes, with and without accumulate=5
    loaders.py    batches of training and of evaluation
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PROGRAMS = rehearsals.ROOT / "tests" / "techniques" / "programs"


class Loop(unittest.TestCase):
    plimsoll = None

    def run_for_real(self, program, *techniques):
        """(its output, {technique: its entry of the report})."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "run")
            result = subprocess.run(
                [self.plimsoll, "run", "--gpu=h100", "--quiet", f"--output={folder}",
                 *(f"--with={technique}" for technique in techniques),
                 "--", rehearsals.PYTHON, str(PROGRAMS / program)],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr[-2000:])
            entries = {}
            for path in glob.glob(os.path.join(folder, "with", "*.json")):
                with open(path, encoding="utf-8") as file:
                    for entry in json.load(file)["techniques"]:
                        entries[f"{entry['name']}={entry['value']}"] = entry
        return result.stdout, entries

    def test_losses_in_pieces_are_those_of_the_whole_batch(self):
        plain, _ = self.run_for_real("divided.py")
        divided, entries = self.run_for_real("divided.py", "accumulate=5")
        entry = entries["accumulate=5"]
        self.assertEqual((entry["state"], entry["label"]), ("applied", "same"), entry)
        pairs = list(zip(plain.splitlines(), divided.splitlines()))
        self.assertGreater(len(pairs), 60)
        for one, other in pairs:
            figures = zip(one.split()[1:], other.split()[1:])
            self.assertTrue(all(abs(float(a) - float(b)) < 2e-5 for a, b in figures),
                            f"{one} / {other}")
        self.assertEqual(*(len(text.splitlines()) for text in (plain, divided)))

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_batches_of_training_and_evaluation_apart(self):
        said, entries = self.run_for_real("loaders.py", "batch=8", "batch=eval:48")
        self.assertEqual(said.splitlines(), ["length 12", "train [8] 12", "evaluate [48]",
                                             "train [8] 12", "evaluate [48]"])
        self.assertEqual({entry["state"] for entry in entries.values()}, {"applied"})
        said, entries = self.run_for_real("loaders.py", "batch=97")
        self.assertIn("train [16] 6", said)
        self.assertIn("96 rows", entries["batch=97"]["text"])
        self.assertEqual(entries["batch=97"]["state"], "refused")


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Loop.plimsoll = sys.argv.pop(1)
    unittest.main()
