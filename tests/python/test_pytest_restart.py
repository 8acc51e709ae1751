#!/usr/bin/env python3
"""`pytest --plimsoll-gpu`: the same pytest again, over the stand-ins.

    test_pytest_restart.py PLIMSOLL

Needs PyPI, or what an earlier run had of it: tools/programs-python over the Python with PyTorch that
PLIM_TORCH_PYTHON names. Skipped without.
"""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLIMSOLL = sys.argv.pop(1) if len(sys.argv) > 1 else "plimsoll"
SECONDS = 300
GPU = "--plimsoll-gpu=rtx4090"
PLUGIN = ("-p", "plimsoll.pytest_plugin")

PLAIN = """
import os

def test_it():
    assert os.environ["PLIMSOLL_REHEARSAL"]
"""
TESTS = """
import os, sys
import pytest
import torch

def test_a_gpu():
    assert torch.cuda.get_device_name() == "NVIDIA GeForce RTX 4090"
    torch.ones(1 << 20, device="cuda")
    assert not [name for name in os.environ if name in ("PLIMSOLL_RUN", "PLIMSOLL_QUIET")]

def test_devices():
    total = torch.cuda.get_device_properties(0).total_memory
    print("devices", torch.cuda.device_count(), total, os.environ.get("CUDA_VISIBLE_DEVICES"))

def test_fills():
    held = torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(900 << 30, dtype=torch.uint8, device="cuda")
"""


def programs_python():
    """A Python with PyTorch, pytest and pytest-xdist; exits where there is not one."""
    if not os.environ.get("PLIM_TORCH_PYTHON"):
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch (tools/torch-python)")
        sys.exit(77)
    had = subprocess.run([ROOT / "tools" / "programs-python"], stdout=subprocess.PIPE, text=True,
                         check=False)
    if had.returncode != 0:
        sys.exit(had.returncode)
    return had.stdout.strip()


class Suite(unittest.TestCase):
    """A folder with tests, and pytest run in it."""

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="plim pytest "))  # with blanks
        self.addCleanup(shutil.rmtree, self.place, True)
        (self.place / "tmp").mkdir()
        self.suite = self.place / "suite"
        self.suite.mkdir()
        self.write("test_it.py", PLAIN)
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("PLIMSOLL_", "PYTEST", "PYTHON", "COV", "CUDA_"))}
        self.environment = {**clean, "TMPDIR": str(self.place / "tmp"), "NO_COLOR": "1",
                            "PYTHONPATH": str(pathlib.Path(PLIMSOLL).parent / "rehearse/python"),
                            "XDG_STATE_HOME": str(self.place / "state")}

    def write(self, name, text):
        (self.suite / name).write_text(text)

    def run_words(self, *words, status=0, more=None, **how):
        """The output of a command in the folder of the suite."""
        done = subprocess.run(words, cwd=self.suite, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
                              env={**self.environment, **(more or {})}, **how)
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertEqual(list((self.place / "tmp").glob("plimsoll-*")), [])
        return done.stdout

    def pytest(self, *options, **how):
        return self.run_words(PYTHON, "-m", "pytest", *PLUGIN, *options, **how)


    def check_refused(self, reason, said):
        """A line that says why, and nothing run."""
        error = [line for line in said.splitlines()
                 if line.startswith(("ERROR: ", "plimsoll run: "))]
        self.assertEqual(len(error), 1, said)
        self.assertIn(reason, error[0])
        self.assertNotIn("Traceback", said)


class Restart(Suite):
    def test_the_module(self):
        self.write("conftest.py", "import torch\n")  # the stand-ins have to be there before
        self.write("test_it.py", TESTS)
        said = self.pytest(GPU, "--plimsoll-capacity=2GiB", "-rP")
        self.assertIn("plimsoll: over stand-ins for 1 rtx4090; nothing is computed", said)
        self.assertIn("3 passed", said)
        self.assertIn(f"devices 1 {2 << 30} None", said)
        self.assertFalse((self.place / "state").exists())  # nothing was recorded

    def test_the_script_and_the_ini_file(self):
        self.write("pytest.ini", "[pytest]\nplimsoll_gpu = rtx4090\naddopts = -p plimsoll.pytest_plugin\n")
        script = pathlib.Path(PYTHON).parent / "pytest"
        self.assertIn("1 passed", self.run_words(script, "-q", "-p", "no:cacheprovider"))
        self.write("test_it.py", "def test_it(): assert False\n")
        self.run_words(script, "-q", status=1)
        self.assertIn("1 deselected", self.run_words(script, "-q", "-k", "x", status=5))

    def test_a_program_that_calls_pytest(self):
        code = ("import pytest, sys; ended = pytest.main(['-q', *sys.argv[1:]]); "
                "print('ended', int(ended)); sys.exit(7)")
        said = self.run_words(PYTHON, "-X", "dev", "-c", code, "test_it.py::test_it", status=7,
                              more={"PYTEST_ADDOPTS": " ".join((*PLUGIN, GPU))})
        self.assertIn("1 passed", said)
        self.assertEqual(said.count("ended 0"), 1)

    def test_a_script_that_reads_the_names_of_tests_once(self):
        """As VS Code's does."""
        names = self.suite / "names"
        names.write_text("test_it.py::test_it")
        self.write("run_script.py", "import os, pytest\npath = os.environ['RUN_TEST_IDS_PIPE']\n"
                   "names = open(path).read().split()\nos.unlink(path)\n"
                   f"pytest.main(['-p', 'plimsoll.pytest_plugin', '{GPU}', *names])\n")
        said = self.run_words(PYTHON, "run_script.py", more={"RUN_TEST_IDS_PIPE": str(names)})
        self.assertIn("1 passed", said)

    def test_processes_of_xdist_have_a_gpu_each(self):
        self.write("test_it.py", TESTS)
        said = self.pytest(GPU, "-n2", "--dist=each", "--plimsoll-capacity=1536MiB", "-rP")
        self.assertIn("over stand-ins for 2 rtx4090, 1 for each process of tests", said)
        self.assertIn("6 passed", said)  # each holds 900 MiB of 1.5 GiB
        for number in "01":
            self.assertEqual(said.count(f"devices 1 {3 << 29} {number}"), 1)

    def test_over_stand_ins_already(self):
        said = self.run_words(PLIMSOLL, "run", "--gpu=rtx4090", "--no-recorder", "--", PYTHON, "-m",
                              "pytest", *PLUGIN, "--plimsoll-gpu=h100")
        self.assertIn("1 passed", said)
        self.assertIn("that pytest was started with; --plimsoll-gpu=h100 has no effect", said)

    def test_input_terminal_and_signals(self):
        self.write("test_it.py", "import os, signal, sys\n"
                   "def test_it():\n"
                   "    assert os.isatty(0) and os.isatty(1) and sys.stdin.readline() == 'yes\\n'\n"
                   "    print('kill', os.getppid(), flush=True)\n"
                   "    signal.pause()\n")
        control, terminal = pty.openpty()
        with subprocess.Popen([PYTHON, "-m", "pytest", *PLUGIN, GPU, "-s", "-q"], cwd=self.suite,
                              env=self.environment, stdin=terminal, stdout=terminal,
                              stderr=terminal) as done:
            os.close(terminal)
            os.write(control, b"yes\n")
            seen = b""
            while b"kill" not in seen or not seen.endswith(b"\n"):
                seen += os.read(control, 4096)
            self.assertIn(f"kill {done.pid}\r\n".encode(), seen)  # its process became the launcher
            done.send_signal(signal.SIGINT)
            while b"no tests ran" not in seen:
                seen += os.read(control, 4096)
            self.assertEqual(done.wait(SECONDS), 2, seen)  # interrupted
        os.close(control)


class Locked(Suite):
    NET = """
import torch

def forward(mib):
    kept = torch.zeros(7 << 20, dtype=torch.uint8, device="cuda")
    return kept, torch.zeros(mib << 20, dtype=torch.uint8, device="cuda")
"""
    TESTS = """
import pytest
import torch
from net import forward

def test_multiplies():
    torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")

@pytest.mark.parametrize("mib", (1, 300))
def test_forward(mib):
    forward(mib)

def test_fails():
    forward(5)
    assert False

def test_nothing():
    pass
"""

    def test_a_lock(self):
        """Alone and under pytest-xdist: one file, held to by either."""
        self.write("net.py", self.NET)
        self.write("test_it.py", self.TESTS)
        locked = (GPU, "--plimsoll-lock=plimsoll.lock")
        path = self.suite / "plimsoll.lock"
        said = self.pytest(*locked, "--plimsoll-lock-update", status=1)
        self.assertIn("3 tests locked in plimsoll.lock", said)
        entries = {one["command"]: one for one in json.loads(path.read_text())["entries"]}
        self.assertEqual(sorted(entries), ["pytest test_it.py::test_forward[1]",
                                           "pytest test_it.py::test_forward[300]",
                                           "pytest test_it.py::test_multiplies"])
        peak, = entries["pytest test_it.py::test_forward[1]"]["peaks"]
        self.assertEqual(peak["allocated_bytes"], 8 << 20)
        self.assertEqual([group["stack"] for group in peak["groups"]],
                         [["net.py:5 in forward", "test_it.py:11 in test_forward"],
                          ["net.py:6 in forward", "test_it.py:11 in test_forward"]])
        text = path.read_text()
        self.pytest(*locked, "--plimsoll-lock-update", "-n2", "-k", "not fails")
        self.assertEqual(path.read_text(), text)  # whatever ran before in its process

        self.write("net.py", self.NET.replace("import torch", "import torch  # moved\n").replace(
            "7 <<", "9 <<"))
        said = self.pytest(*locked, "-k", "not fails", status=1)
        self.assertIn("10.0 MiB allocated at the peak, 2.00 MiB above the 8.00 MiB of "
                      "plimsoll.lock; net.py:6 in forward grew by 2.00 MiB", said)
        self.assertRegex(said, r"309 MiB +\d+ MiB  locked  test_it.py::test_forward\[300\]")
        self.assertIn("2 tests within plimsoll.lock, 1 above", said)  # 2 MiB of 307 is not 1 %
        self.assertEqual(path.read_text(), text)

    def test_the_file_of_the_ini_file(self):
        self.write("pytest.ini", "[pytest]\naddopts = -p plimsoll.pytest_plugin\n"
                   "plimsoll_lock = mem.lock\n")
        self.check_refused("mem.lock: is not there: --plimsoll-lock-update writes it",
                           self.run_words(PYTHON, "-m", "pytest", status=4))
        self.write("mem.lock", '{"schema": "lock/1",\n<<<<<<< HEAD\n')
        self.check_refused("mem.lock:2: two branches",
                           self.run_words(PYTHON, "-m", "pytest", "-n2", status=4))
        said = self.run_words(PYTHON, "-m", "pytest", "-o", "plimsoll_lock=", status=1)
        self.assertNotIn("mem.lock", said)
        self.check_refused("name it", self.run_words(
            PYTHON, "-m", "pytest", "-o", "plimsoll_lock=", "--plimsoll-lock-update", status=4))


class Refused(Suite):
    def test_what_there_is_not(self):
        self.check_refused("no GPU is called 'rtx9999'",
                           self.pytest("--plimsoll-gpu=rtx9999", status=2))
        self.check_refused('"much" is not a size',
                           self.pytest(GPU, "--plimsoll-capacity=much", status=2))

    def test_a_process_that_cannot_be_started_again(self):
        call = f"pytest.main(['-p', 'plimsoll.pytest_plugin', '{GPU}'])"
        for start, reason in (
                ("sys.ps1 = ''\nended = " + call, "interactive session"),
                ("sys.modules['torch'] = None\nended = " + call, "has imported torch already"),
                (f"ran = []\nt = threading.Thread(target=lambda: ran.append({call}))\n"
                 "t.start()\nt.join()\nended, = ran", "called in a thread")):
            with self.subTest(reason):
                said = self.run_words(PYTHON, "-c", f"import pytest, sys, threading\n{start}\n"
                                      "sys.exit(int(ended))", status=4)
                self.check_refused(reason, said)

    def test_a_plugin_that_comes_too_late(self):
        self.write("conftest.py", "pytest_plugins = ['plimsoll.pytest_plugin']\n")
        self.check_refused("loaded by a conftest", self.run_words(PYTHON, "-m", "pytest", GPU, status=4))


if __name__ == "__main__":
    PYTHON = programs_python()
    unittest.main()
