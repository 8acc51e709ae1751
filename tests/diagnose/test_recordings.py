#!/usr/bin/env python3
"""Hold `plimsoll diagnose` to every recording whose answer is known.

    test_recordings.py build/release/plimsoll

FOOLED names the recordings that it still gets wrong, what of them, and why: the kinds of program that fool
it. A recording that is not there has to be right; one that has become right has to leave the list.
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "cases"), str(HERE.parent)]
import check  # noqa: E402
import share  # noqa: E402

PLIMSOLL = sys.argv.pop(1)
DATA = pathlib.Path("tests/data")
FOOLED = {
    "gnn-penalty-oom": ({"growth"}, "nine steps until memory is full: some of what stays is not counted"),
    "adapters-by-user": ({"growth", "period"}, "every third request loads an adapter, and only those are seen as steps"),
    "snapshot-ensemble": ({"verdict", "leak"}, "copies of a model, made at even distances to the end of training"),
    "spike-at-start": ({"verdict", "line"}, "a burst before the first step, which has nothing to compare with"),
    "spike-at-end": ({"verdict", "line"}, "a burst after the last step"),
    "spike-checkpoint": ({"line"}, "weights are copied on the device now and then: taken for a healthy run"),
    "spike-logits": ({"line"}, "each step's logits: taken for a healthy run"),
}


def wrong_marks(label, path):
    findings, verdict = check.diagnose(PLIMSOLL, path, label.get("device", ()))
    marks = check.judge(label, findings, verdict)
    return {column for column, mark in marks.items() if mark == "WRONG"}


class Recordings(unittest.TestCase):
    maxDiff = None

    def hold(self, labels):
        cases = check.read_labels(DATA / labels)
        self.assertGreater(len(cases), 70)
        cases = share.of(cases)
        found = {label["name"]: wrong for label, path in cases if (wrong := wrong_marks(label, path))}
        names = {label["name"] for label, _ in cases}
        known = {name: marks for name, (marks, _) in FOOLED.items() if name in names}
        self.assertEqual(found, known)

    def test_rehearsals(self):
        self.hold("rehearsals/labels.json")

    def test_leaks_and_other_causes(self):
        self.hold("diagnoses/labels-leaks.json")

    def test_what_looks_like_them(self):
        self.hold("diagnoses/labels-lookalikes.json")


if __name__ == "__main__":
    unittest.main()
