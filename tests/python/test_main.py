#!/usr/bin/env python3
"""test_main.py PLIMSOLL - `python -m plimsoll` is the command."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
PACKAGE = os.path.join(os.path.dirname(PLIMSOLL), "rehearse", "python")


class MainTest(unittest.TestCase):
    def run_main(self, *words, **more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("PLIMSOLL_", "PYTHON"))}
        environment.update(PYTHONPATH=PACKAGE, LC_ALL="C.UTF-8", **more)
        return subprocess.run([sys.executable, "-m", "plimsoll", *words], capture_output=True,
                              text=True, timeout=60, check=False, env=environment,
                              input="CUDA out of memory. Tried to allocate 2.00 GiB")

    def test_words_input_output_and_status_are_the_commands(self):
        for words in (["--version"], ["explain", "-"], ["explain", "--json"], ["nothing"], []):
            done = self.run_main(*words)
            plain = subprocess.run([PLIMSOLL, *words], capture_output=True, text=True, check=False,
                                   input="CUDA out of memory. Tried to allocate 2.00 GiB")
            self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
            self.assertEqual(done.stderr, plain.stderr)

    def test_it_is_about_its_own_python(self):
        with tempfile.TemporaryDirectory(prefix="empty ") as empty:
            done = self.run_main("enable", "--status", "--json", PATH=empty)
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads(done.stdout)["prefix"], sys.prefix)
        done = self.run_main("enable", "--status", "--python=/bin/nothing")
        self.assertIn("/bin/nothing", done.stderr)

    def test_a_command_that_cannot_be_run_is_said(self):
        with tempfile.TemporaryDirectory(prefix="a blank ") as folder:
            path = os.path.join(folder, "plimsoll")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/nothing\n")
            os.chmod(path, 0o755)
            done = self.run_main("--version", PLIMSOLL_COMMAND=path)
        self.assertEqual((done.returncode, done.stdout), (126, ""))
        self.assertEqual(done.stderr,
                         f"plimsoll: {path} cannot be run: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
