#!/usr/bin/env python3
"""test_lock.py PLIMSOLL - rehearsals of real PyTorch, locked and held to the lock.

Needs a Python that has PyTorch for CUDA, in PLIM_TORCH_PYTHON (tools/torch-python installs one);
without it, only what needs no rehearsal is tested. The commands of examples/ci/github-actions.yml
are run as far as they need no network.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = pathlib.Path(sys.argv.pop(1)).resolve()
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples/ci/github-actions.yml"
with_torch = unittest.skipUnless(PYTHON, "PLIM_TORCH_PYTHON is not set")

TRAIN = """\
import torch

def make(count):
    return [torch.empty(32 << 20, dtype=torch.uint8, device="cuda") for _ in range(count)]

def main():
    model = torch.nn.Linear(4096, 4096, bias=False, device="cuda")
    held = make({count})
    model(torch.zeros(16, 4096, device="cuda")).sum().backward()

main()
"""


class Lock(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def rehearse(self, *options, command=(PYTHON, "train.py")):
        return subprocess.run([PLIMSOLL, "rehearse", *options, "--", *command], cwd=self.at,
                              capture_output=True, text=True, check=False, timeout=300)

    def program(self, count, lead=""):
        (self.at / "train.py").write_text(lead + TRAIN.format(count=count))

    def test_options_that_do_not_go_together_are_wrong_usage(self):
        for options in (["--lock=a", "--check=a"], ["--lock=a", "--against=b"],
                        ["--check=a", "--by=x"], ["--lock=a", "--sweep=1,2"],
                        ["--format=github"], ["--check=a", "--format=x"]):
            with self.subTest(options):
                done = self.rehearse(*options, command=("python3", "{}"))
                self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_file_that_is_no_lock_costs_no_rehearsal(self):
        (self.at / "bad.lock").write_text("{}")
        for options in (["--check=bad.lock"], ["--lock=bad.lock"], ["--check=none.lock"]):
            done = self.rehearse(*options, command=("python3", "-c", "print('ran')"))
            self.assertEqual(done.returncode, 3)
            self.assertNotIn("ran", done.stdout)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("--lock", done.stderr)

    @with_torch
    def test_what_grows_is_named_by_its_line(self):
        self.program(4)
        done = self.rehearse("--lock=plimsoll.lock")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lock = json.loads((self.at / "plimsoll.lock").read_text())
        self.assertEqual(lock["schema"], "lock/1")
        self.assertEqual([entry["command"] for entry in lock["entries"]], ["python train.py"])
        groups = lock["entries"][0]["peaks"][0]["groups"]
        self.assertEqual(groups[0]["stack"], ["train.py:4 in <listcomp>", "train.py:4 in make",
                                              "train.py:8 in main", "train.py:11 in <module>"])
        self.assertEqual((groups[0]["bytes"], groups[0]["count"]), (128 << 20, 4))

        done = self.rehearse("--check=plimsoll.lock", "--format=github")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("It holds to plimsoll.lock", done.stdout)
        self.assertNotIn("::error", done.stdout)

        self.program(6, lead="# a line more\n")  # lines moved, and two blocks more
        done = self.rehearse("--check=plimsoll.lock", "--format=github")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("It exceeds plimsoll.lock", done.stdout)
        grown = re.search(r"What grew at the peak\n.*\n(.*)\n", done.stdout)[1].split()
        self.assertEqual(grown[:7], ["+64.0", "MiB", "128", "MiB", "192", "MiB", "train.py:5"])
        self.assertRegex(done.stdout, r"(?m)^::error file=train\.py,line=5,title=plimsoll%3A ")

        self.assertEqual(self.rehearse("--check=plimsoll.lock", "--by=50%").returncode, 0)
        self.program(2)
        done = self.rehearse("--check=plimsoll.lock")
        self.assertEqual(done.returncode, 0)
        self.assertIn("needs less: --lock plimsoll.lock keeps the lower peaks", done.stdout)

    @with_torch
    def test_entries_are_by_command_gpu_and_options(self):
        self.program(1)
        self.assertEqual(self.rehearse("--lock=a.lock").returncode, 0)
        done = self.rehearse("--check=a.lock", "--gpu=rtx4090")
        self.assertEqual(done.returncode, 3)
        self.assertIn('has no entry for "python train.py" on rtx4090', done.stderr)
        self.assertIn("--lock=a.lock", done.stderr)
        self.assertEqual(self.rehearse("--lock=a.lock", "--gpu=rtx4090").returncode, 0)
        before = (self.at / "a.lock").read_text()
        self.assertEqual(len(json.loads(before)["entries"]), 2)
        self.assertEqual(self.rehearse("--lock=a.lock", "--gpu=rtx4090").returncode, 0)
        self.assertEqual((self.at / "a.lock").read_text(), before)

    @with_torch
    def test_a_program_that_fails_is_not_locked(self):
        (self.at / "train.py").write_text("import torch\ntorch.empty(1, device='cuda')\n1 / 0\n")
        done = self.rehearse("--lock=a.lock")
        self.assertEqual(done.returncode, 3)
        self.assertFalse((self.at / "a.lock").exists())


class Workflow(unittest.TestCase):
    """Lines of YAML as far as this file has them: keys, lists, block texts."""

    def steps(self):
        text = WORKFLOW.read_text()
        blocks = re.findall(r"(?m)^( +)run: \|\n((?:\1  .*\n)+)|^ +run: (?!\|)(.*)$", text)
        return [re.sub(r"(?m)^ +", "", block) or line for _, block, line in blocks]

    def test_it_is_yaml(self):
        text = WORKFLOW.read_text()
        self.assertNotIn("\t", text)
        for line in text.splitlines():
            if line.strip() and not line.strip().startswith("#"):
                indent = len(line) - len(line.lstrip())
                self.assertEqual(indent % 2, 0, line)
        try:
            import yaml
        except ImportError:
            return
        job = yaml.safe_load(text)["jobs"]["memory"]
        self.assertEqual(len([step for step in job["steps"] if "run" in step]), 3)

    def test_its_commands_are_shell(self):
        self.assertEqual(len(self.steps()), 3)
        for step in self.steps():
            subprocess.run(["bash", "-n"], input=step, text=True, check=True)

    @with_torch
    def test_its_commands_run(self):
        """The first installs; for the second a PyTorch that is there stands in."""
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            (here / "plimsoll").symlink_to(PLIMSOLL)
            environment = {**os.environ, "PYTHON": PYTHON, "GITHUB_PATH": str(here / "path"),
                           "PATH": f"{here}:{os.environ['PATH']}"}
            done = subprocess.run(["bash", "-e"], input=self.steps()[2], text=True, cwd=ROOT,
                                  env=environment, capture_output=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("It holds to examples/ci/plimsoll.lock", done.stdout)


if __name__ == "__main__":
    unittest.main()
