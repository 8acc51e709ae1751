#!/usr/bin/env python3
"""test_run_with_torch.py PLIMSOLL - the command run with real PyTorch, over the stand-ins.

Needs a Python that has PyTorch for CUDA, in PLIM_TORCH_PYTHON (tools/torch-python installs one);
without it, it is skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
GIB = 1 << 30

FILLS = """
import torch

def keep_all():
    kept = []
    for step in range(100):
        kept.append(torch.empty(256 << 20, dtype=torch.uint8, device="cuda"))

keep_all()
"""

HEALTHY = """
import os, torch
held = [torch.empty(64 << 20, dtype=torch.uint8, device=f"cuda:{i}")
        for i in range(torch.cuda.device_count())]
print(len(held), os.environ.get("PYTORCH_CUDA_ALLOC_CONF"))
"""


class WithTorch(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="plim-run-"))
        self.addCleanup(shutil.rmtree, self.place, True)
        (self.place / "tmp").mkdir()

    def run_program(self, code, *options, status=0):
        script = self.place / "train.py"
        script.write_text(code)
        environment = {**os.environ, "XDG_STATE_HOME": str(self.place / "my state"),
                       "TMPDIR": str(self.place / "tmp"), "LC_ALL": "C.UTF-8"}
        done = subprocess.run([PLIMSOLL, "run", "--gpu=h100", *options, "--", PYTHON, str(script)],
                              capture_output=True, text=True, env=environment, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(list((self.place / "tmp").glob("plimsoll-*")), [])
        return done

    @property
    def processes(self):
        runs = sorted((self.place / "my state" / "plimsoll" / "runs").iterdir())
        return sorted(path.parent for path in runs[-1].glob("*/process.json"))

    def test_a_program_that_runs_out(self):
        done = self.run_program(FILLS, "--capacity=4GiB", "--json", status=1)
        document = json.loads(done.stdout)
        self.assertTrue(document["died_of_memory"])
        self.assertIsNone(document["why_unseen"])
        process, = document["processes"]
        self.assertEqual(process["ended"], "oom")
        self.assertEqual(document["main"]["pid"], process["pid"])
        dump = next(one for one in process["dumps"] if one["name"] == document["main"]["dump"])
        self.assertTrue(dump["ends_program"])
        self.assertIn("train.py:7 keep_all", dump["where"])
        self.assertEqual(dump["failure"]["figures"]["requested_bytes"], 256 << 20)
        self.assertEqual(document["message"]["verdict"], "exhausted")
        found = subprocess.run([PLIMSOLL, "inspect", "--json", document["main"]["snapshot"]],
                               capture_output=True, text=True, check=True, timeout=60)
        device = json.loads(found.stdout)["files"][0]["devices"][0]
        self.assertGreaterEqual(device["peak"]["requested_bytes"], 3 * GIB)

    def test_the_page_stands_below_the_traceback(self):
        done = self.run_program(FILLS, "--capacity=4GiB", status=1)
        before, _, page = done.stderr.partition("torch.OutOfMemoryError: ")
        self.assertIn("Traceback", before)
        self.assertIn("train.py:7", page)  # where it failed, and what is kept there
        self.assertIn("list `kept` in keep_all", page)
        self.assertIn(str(self.processes[0].parent), page)
        self.assertEqual(done.stdout, "")

    def test_a_healthy_program(self):
        done = self.run_program(HEALTHY, "--devices=2", "--conf=max_split_size_mb:64")
        self.assertEqual((done.stdout, done.stderr), ("2 max_split_size_mb:64\n", ""))
        about = json.loads((self.processes[0] / "process.json").read_text())
        self.assertEqual(about["ended"], "exit")
        self.assertEqual(about["warnings"], [])
        self.assertEqual([one["allocated_bytes"] for one in about["devices"]], [64 << 20] * 2)

    def test_nothing_is_recorded_if_so_wanted(self):
        self.run_program(FILLS, "--capacity=1GiB", "--record=off", status=1)
        dumps = [json.loads(path.read_text()) for path in self.processes[0].glob("*-oom.json")]
        self.assertEqual(len(dumps), 1)
        self.assertEqual(dumps[0]["why_no_history"], "nothing was recorded")

    def test_the_standins_alone(self):
        done = self.run_program(HEALTHY + "print([name for name in os.environ if name in "
                                "('PLIMSOLL_RUN', 'PLIMSOLL_RECORD', 'PLIMSOLL_QUIET')])",
                                "--no-recorder", "--quiet", "--devices=2")
        self.assertEqual((done.stdout, done.stderr), ("2 None\n[]\n", ""))
        self.assertFalse((self.place / "my state").exists())


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch (tools/torch-python)")
        sys.exit(77)
    unittest.main()
