#!/usr/bin/env python3
"""test_frameworks.py PLIMSOLL - loops as frameworks make them, for real on the CPU.

programs/framework.py has steps with closures, blocks that it recomputes, and one loader for both
training and evaluation. Programs of frameworks themselves: tests/techniques/others/check.py.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PROGRAM = rehearsals.ROOT / "tests" / "techniques" / "programs" / "framework.py"


class Frameworks(unittest.TestCase):
    plimsoll = None

    def run_for_real(self, options, *techniques):
        """(its lines, {technique: its entry of the report})."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "run")
            result = subprocess.run(
                [self.plimsoll, "run", "--gpu=h100", "--quiet", f"--output={folder}",
                 *(f"--with={technique}" for technique in techniques),
                 "--", rehearsals.PYTHON, str(PROGRAM), *options],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr[-2000:])
            entries = {}
            for path in glob.glob(os.path.join(folder, "with", "*.json")):
                with open(path, encoding="utf-8") as file:
                    for entry in json.load(file)["techniques"]:
                        entries[f"{entry['name']}={entry['value']}"] = entry
        return result.stdout.splitlines(), entries

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_blocks_that_the_program_recomputes_and_a_shared_loader(self):
        plain, _ = self.run_for_real([])
        lines, entries = self.run_for_real([], "offload=all_saved", "batch=eval:2", "accumulate=2")
        self.assertEqual([line.split()[:2] for line in plain], [line.split()[:2] for line in lines])
        for one, other in zip(plain, lines):
            if one.startswith("loss"):
                self.assertAlmostEqual(float(one.split()[2]), float(other.split()[2]), places=4)
        self.assertEqual(entries["accumulate=2"]["state"], "applied", entries)
        self.assertEqual(entries["offload=all_saved"]["state"], "no_effect", entries)
        self.assertIn("that it trains with", entries["batch=eval:2"]["text"])

    def test_an_overflow_in_the_first_closure_is_left_out(self):
        lines, entries = self.run_for_real(["large"], "autocast=fp16", "offload=all_saved")
        self.assertEqual(lines[-1], "finite True")
        text = entries["autocast=fp16"]["text"]
        self.assertIn("of 12 steps were left out", text)
        self.assertNotIn(" 0 of 12", text)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_gradients_gathered_outside_of_the_closure(self):
        plain, _ = self.run_for_real(["gather"])
        lines, entries = self.run_for_real(["gather"], "optimizer=in_backward", "set_to_none")
        self.assertEqual(plain, lines)
        entry = entries["optimizer=in_backward"]
        self.assertEqual(entry["state"], "refused")
        self.assertIn("several backward passes", entry["text"])


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Frameworks.plimsoll = sys.argv.pop(1)
    unittest.main()
