#!/usr/bin/env python3
"""test_others.py - the runner of programs of others, without running one."""

import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "examples" / "rehearse" / "others" / "run.py"


def load():
    spec = importlib.util.spec_from_file_location("others_run", RUN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


others = load()
PROGRAMS = others.programs()


def call(*arguments):
    return subprocess.run([sys.executable, RUN, *arguments], capture_output=True, text=True)


class Names(unittest.TestCase):
    def test_lists_them(self):
        run = call()
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], sorted(PROGRAMS))
        for name in ("nanogpt", "torchvision", "trainer", "trl", "diffusers", "lightning",
                     "accelerate", "deepspeed-zero1", "deepspeed-zero2", "deepspeed-zero3"):
            self.assertIn(name, PROGRAMS)

    def test_a_wrong_name_is_wrong_usage(self):
        run = call("nanogpt", "nonsense")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("nonsense is not one of accelerate", run.stderr)


class Descriptions(unittest.TestCase):
    def test_are_whole(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                self.assertTrue(program.what and program.command)
                self.assertLessEqual(program.low, program.high)
                self.assertTrue(all("==" in package for package in program.packages))
                scripts = [word for words in (program.command, *program.makers) for word in words
                           if word.startswith("SCRIPTS/")]
                for word in scripts:
                    self.assertTrue((RUN.parent / "scripts" / word.split("/")[1]).is_file(), word)

    def test_data_is_made_here(self):
        for name, program in PROGRAMS.items():
            if program.feed is not None:
                with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                    program.feed(pathlib.Path(folder))
                    self.assertTrue(any(path.is_file() for path in pathlib.Path(folder).rglob("*")))


class Judging(unittest.TestCase):
    def setUp(self):
        golden = ROOT / "tests" / "golden" / "rehearse-ranks.json"
        self.document = json.loads(golden.read_text())
        self.program = copy.copy(PROGRAMS["accelerate"])
        self.program.steps = self.document["processes"][0]["steps"]
        self.program.devices = len(self.document["processes"])
        self.program.low, self.program.high = 0, 1 << 62

    def complaints(self, errors=""):
        return others.complaints(self.program, self.document, errors)

    def test_what_holds_is_not_complained_of(self):
        self.assertEqual(self.complaints("words of the program\n"), [])

    def test_each_thing_that_does_not_hold(self):
        self.program.high = 1
        self.assertIn("is not in 0 .. 1", self.complaints()[0])
        self.setUp()
        self.program.at_end = (0, 1)
        self.assertIn("at the end", self.complaints()[0])
        self.setUp()
        self.program.steps += 1
        self.assertIn("steps and not", self.complaints()[0])
        self.setUp()
        self.document["verdict"] = "at_least"
        self.assertIn("the verdict is at_least", self.complaints()[0])
        self.setUp()
        self.assertIn("a line of ours", self.complaints("plimsoll: something\n")[0])
        self.setUp()
        self.document["processes"][0]["warnings"] = ["the agent could not sing: ValueError: la"]
        self.assertIn("could not sing", self.complaints()[0])


class Sources(unittest.TestCase):
    def test_a_folder_that_is_given_is_copied(self):
        with tempfile.TemporaryDirectory() as given, tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(given) / "nanogpt"
            (place / ".git").mkdir(parents=True)
            (place / "train.py").write_text("pass\n")
            before = os.environ.get("PLIM_OTHERS_SOURCES")
            os.environ["PLIM_OTHERS_SOURCES"] = given
            try:
                others.get_source(PROGRAMS["nanogpt"], pathlib.Path(folder))
            finally:
                del os.environ["PLIM_OTHERS_SOURCES"]
                if before is not None:
                    os.environ["PLIM_OTHERS_SOURCES"] = before
            names = sorted(path.name for path in (pathlib.Path(folder) / "source").iterdir())
            self.assertEqual(names, ["train.py"])


if __name__ == "__main__":
    unittest.main(verbosity=0)
