#!/usr/bin/env python3
"""test_measured.py - the committed table of public measurements, without rehearsing one."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "examples" / "rehearse" / "measured" / "check.py"
COLUMNS = ["id", "source", "gpu", "pytorch", "rehearsed_with", "settings", "quantity",
           "measured_bytes", "resolution_bytes", "options", "program", "rehearsed_bytes",
           "difference", "low_bytes", "high_bytes", "matched", "explanation"]
QUANTITY = re.compile(r"(allocated|reserved) (peak|at \w+)|device( with the driver's share)?")


def load():
    spec = importlib.util.spec_from_file_location("measured_check", CHECK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = load()
ROWS = check.read_table()


def series(version):
    return version.split(".")[:2]


class Rows(unittest.TestCase):
    def test_are_whole(self):
        self.assertGreaterEqual(len(ROWS), 20)
        self.assertEqual(len({row["id"] for row in ROWS}), len(ROWS))
        for row in ROWS:
            with self.subTest(row["id"]):
                self.assertEqual(list(row), COLUMNS)
                self.assertNotIn(None, row.values())
                for column in COLUMNS[:12]:
                    self.assertTrue(row[column], column)
                self.assertRegex(row["rehearsed_with"], r"^\d+\.\d+\.\d+$")
                self.assertTrue(QUANTITY.fullmatch(row["quantity"]))
                self.assertGreater(int(row["measured_bytes"]), int(row["resolution_bytes"]))
                (script,) = (word for word in row["program"].split() if word.endswith(".py"))
                self.assertTrue((CHECK.parent / script).is_file())

    def test_know_their_gpu(self):
        table = (ROOT / "src" / "gpus" / "gpus.tsv").read_text(encoding="utf-8")
        for row in ROWS:
            with self.subTest(row["id"]):
                key = row["options"].removeprefix("--gpu=")
                self.assertTrue(re.search(rf"^{re.escape(key)}\t", table, re.M), key)

    def test_differ_as_they_say(self):
        for row in ROWS:
            with self.subTest(row["id"]):
                measured, rehearsed = int(row["measured_bytes"]), int(row["rehearsed_bytes"])
                self.assertEqual(row["difference"], f"{(rehearsed - measured) / measured:+.3%}")

    def test_have_a_bar_where_it_is_device_use(self):
        for row in ROWS:
            with self.subTest(row["id"]):
                if row["quantity"].startswith("device"):
                    self.assertLessEqual(int(row["low_bytes"]), int(row["rehearsed_bytes"]))
                    self.assertLessEqual(int(row["rehearsed_bytes"]), int(row["high_bytes"]))
                else:
                    self.assertEqual((row["low_bytes"], row["high_bytes"]), ("", ""))


class Matched(unittest.TestCase):
    def test_by_one_rule(self):
        for row in ROWS:
            with self.subTest(row["id"]):
                self.assertIn(row["matched"], check.CLASSES)
                if row["matched"] != "yes":
                    self.assertTrue(row["explanation"])
                    continue
                self.assertRegex(row["pytorch"], r"^\d+\.\d+\.\d+$")
                self.assertEqual(series(row["pytorch"]), series(row["rehearsed_with"]))

    def test_a_nightly_build_is_no_release(self):
        for row in ROWS:
            if "dev" in row["pytorch"]:
                with self.subTest(row["id"]):
                    self.assertEqual(row["matched"], "no")


class Summary(unittest.TestCase):
    """What check.py computes is what the README says, and the other way round."""

    def test_is_that_of_the_readme(self):
        ran = subprocess.run([sys.executable, CHECK, "--committed"], capture_output=True, text=True)
        said = ran.stdout.split("\n\n")[1].strip()
        self.assertEqual(ran.stderr, "")
        readme = (CHECK.parent / "README.md").read_text(encoding="utf-8")
        (block,) = re.findall(r"^\$ \./check\.py --committed\n\.\.\.\n(.*?)^```$", readme,
                              re.M | re.S)
        self.assertEqual(said, block.strip())
        self.assertEqual(ran.returncode, 1 if "WRONG" in said else 0)

    def test_far_rows_have_an_explanation(self):
        for row in ROWS:
            found = check.look(row, types.SimpleNamespace(python=None, committed=True))
            if found.error > check.NEAR:
                with self.subTest(row["id"]):
                    self.assertTrue(row["explanation"])


if __name__ == "__main__":
    unittest.main(verbosity=0)
