#!/usr/bin/env python3
"""test_recordings.py PLIMSOLL - the recordings of the reference programs say what their labels do."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv[1]
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "rehearsals"
LABELS = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))
KINDS = {"healthy", "leak", "cycles", "waste", "fragmented", "oom"}
LARGEST_BYTES = 30 << 20


def look(name):
    done = subprocess.run([PLIMSOLL, "inspect", "--json", FOLDER / name], capture_output=True,
                          text=True, timeout=120)
    return name, done, json.loads(done.stdout) if done.returncode == 0 else None


class Recordings(unittest.TestCase):
    def test_all_are_labelled_and_small(self):
        files = {path.name for path in FOLDER.iterdir() if ".pickle" in path.name}
        self.assertEqual(files, set(LABELS))
        self.assertLess(sum(path.stat().st_size for path in FOLDER.iterdir()), LARGEST_BYTES)
        for name, label in LABELS.items():
            self.assertIn(label["label"], KINDS, name)
            self.assertIn("plimsoll rehearse", label["command"])

    def test_peaks_are_those_of_the_labels(self):
        # PyTorch counts blocks, and its history tells requests: a block that was larger than its
        # request and not split is known only if it stands at the end. In expandable segments
        # blocks are split to what was requested.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, done, seen in pool.map(look, LABELS):
                with self.subTest(name=name):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    peaks = [device["peak"]["allocated_bytes"]
                             for device in seen["files"][0]["devices"] if device["peak"]]
                    counted = LABELS[name]["peak_allocated_bytes"]
                    self.assertLessEqual(max(peaks), counted)
                    is_split = "expandable_segments:True" in LABELS[name]["command"]
                    self.assertGreaterEqual(max(peaks), counted if is_split else 0.98 * counted)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
