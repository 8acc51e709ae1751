#!/usr/bin/env python3
"""test_arming.py - the recorder without a launcher: its folder, once a process, and its line."""

import contextlib
import fcntl
import io
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

from session import ROOT, FakeTorch

from plimsoll import _agent, _after, _arming, _runs

_agent.load()

from plimsoll_agent import blackbox  # noqa: E402
from plimsoll_agent.blackbox import recorder  # noqa: E402


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="a blank ")
        self.addCleanup(self.folder.cleanup)
        kept = mock.patch.dict(os.environ, XDG_STATE_HOME=self.folder.name)
        kept.start()
        self.addCleanup(kept.stop)
        for name in ("PLIMSOLL_RUN", "PLIMSOLL_OUTPUT", "PLIMSOLL_REHEARSAL"):
            os.environ.pop(name, None)
        self.runs = os.path.join(self.folder.name, "plimsoll", "runs")


class RunsTest(FolderTest):
    def old(self, count, inside=()):
        paths = []
        for number in range(count):
            path = os.path.join(self.runs, f"20250101-0000{number:02d}-train-1")
            for name in ("", *inside):
                os.makedirs(os.path.join(path, name), exist_ok=True)
            paths.append(path)
        return paths

    def test_a_folder_is_named_as_the_launchers(self):
        for argument, name in (("/x/train.py", "train"), ("", "python"), ("-c", "python"),
                               ("ipykernel_launcher.py", "notebook"), ("a b+c.py", "a_b_c"),
                               ("x" * 80, "x" * 39)):
            with mock.patch.object(sys, "argv", [argument]):
                path = _runs.name_new()
            self.assertEqual(os.path.dirname(path), self.runs)
            self.assertRegex(os.path.basename(path), rf"^\d{{8}}-\d{{6}}-{name}-{os.getpid()}$")

    def test_it_is_for_its_user_alone(self):
        path = _runs.name_new()
        _runs.make(path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o700)

    def test_a_relative_state_folder_does_not_count(self):
        with mock.patch.dict(os.environ, XDG_STATE_HOME="here", HOME="/home/me"):
            self.assertEqual(_runs.parent(), "/home/me/.local/state/plimsoll/runs")

    def test_the_oldest_go(self):
        paths = self.old(15)
        other = os.path.join(self.runs, "mine")
        os.mkdir(other)
        new = _runs.name_new()
        _runs.make(new)
        left = sorted(os.listdir(self.runs))
        self.assertEqual(len(left), 11)
        self.assertIn("mine", left)
        self.assertIn(os.path.basename(new), left)
        self.assertFalse(os.path.exists(paths[5]))
        self.assertTrue(os.path.exists(paths[6]))

    def test_those_in_use_stay(self):
        locked, *_ = self.old(15)
        living = os.path.join(self.runs, "20250101-000001-train-1")
        os.makedirs(os.path.join(living, str(os.getpid())))
        lock = open(os.path.join(locked, "lock"), "w", encoding="ascii")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        _runs.make(_runs.name_new())
        self.assertTrue(os.path.exists(locked))
        self.assertTrue(os.path.exists(living))
        self.assertFalse(os.path.exists(os.path.join(self.runs, "20250101-000002-train-1")))

    def test_links_are_not_followed(self):
        self.old(15)
        target = os.path.join(self.folder.name, "precious")
        os.mkdir(target)
        link = os.path.join(self.runs, "20240101-000000-train-1")
        os.symlink(target, link)
        _runs.make(_runs.name_new())
        self.assertTrue(os.path.isdir(target))
        self.assertTrue(os.path.islink(link))

    def test_a_chosen_folder_rotates_nothing(self):
        paths = self.old(15)
        _runs.make(os.path.join(self.folder.name, "chosen"))
        self.assertTrue(all(os.path.exists(path) for path in paths))


class ArmingTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.torch = sys.modules["torch"] = FakeTorch()
        self.addCleanup(sys.modules.pop, "torch", None)
        self.started = []
        real = recorder.start
        recorder.start = self.start
        self.addCleanup(setattr, recorder, "start", real)
        self.addCleanup(blackbox._armed.clear)
        self.addCleanup(os.environ.pop, "PLIMSOLL_OUTPUT", None)

    def start(self, torch, choice):
        one = types.SimpleNamespace(is_ready=True, folder=os.path.join(choice.folder, "1"),
                                    dump=lambda reason: f"001-{reason}")
        self.started.append(choice.folder)
        return one

    def test_it_begins_at_once_where_torch_is_there(self):
        folder = _arming.arm()
        self.assertEqual(self.started, [folder])
        self.assertEqual(os.path.dirname(folder), self.runs)
        self.assertTrue(os.path.isdir(folder))
        self.assertEqual(_arming.dump(), os.path.join(folder, "1", "001-request.json"))

    def test_it_is_armed_once(self):
        folder = _arming.arm()
        self.assertEqual(_arming.arm(), folder)
        self.assertEqual(_arming.arm("/elsewhere"), folder)
        self.assertEqual(self.started, [folder])

    def test_the_folder_is_made_with_the_first_use_of_cuda(self):
        self.torch.is_used = False
        folder = _arming.arm()
        self.assertFalse(os.path.exists(folder))
        self.torch.waiting[0]()
        self.assertTrue(os.path.isdir(folder))

    def test_a_folder_can_be_chosen(self):
        chosen = os.path.join(self.folder.name, "mine")
        self.assertEqual(_arming.arm(chosen), chosen)

    def test_its_processes_write_into_the_same_run(self):
        folder = _arming.arm()
        self.assertEqual(os.environ["PLIMSOLL_OUTPUT"], folder)
        blackbox._armed.clear()  # as in a process that it starts
        self.assertEqual(_arming.arm(), folder)

    def test_a_launchers_run_is_joined(self):
        os.environ["PLIMSOLL_RUN"] = os.path.join(self.folder.name, "run")
        self.addCleanup(os.environ.pop, "PLIMSOLL_RUN", None)
        self.assertEqual(_arming.arm(), os.environ["PLIMSOLL_RUN"])
        self.assertNotIn("PLIMSOLL_OUTPUT", os.environ)

    def test_without_a_recorder_there_is_no_dump(self):
        self.assertIsNone(_arming.dump())

    def test_what_fails_is_one_line(self):
        page = io.StringIO()
        with mock.patch.object(_runs, "name_new", side_effect=OSError("no place")):
            with contextlib.redirect_stderr(page):
                _arming.arm_or_say()
        self.assertEqual(page.getvalue(), "plimsoll: nothing is recorded: OSError: no place\n")

    def test_a_program_that_ended_by_it_says_where_the_account_is(self):
        folder = os.path.join(self.folder.name, "1")
        os.mkdir(folder)
        one = types.SimpleNamespace(folder=folder)
        sys.last_value = self.torch.OutOfMemoryError("CUDA out of memory.")
        self.addCleanup(delattr, sys, "last_value")
        with mock.patch.object(_after, "lines", lambda: ["GPU 0: 1 GiB allocated, held by"]):
            first = "GPU 0: 1 GiB allocated, held by\n"
            path = f"'{folder}/002-oom.pickle'"  # of a shell: it has a blank
            for quiet, names, said in (
                    ("1", (), ""),
                    ("0", (), f"{first}What was recorded is in {folder}\n"),
                    ("0", ("001-exit.pickle", "002-oom.pickle", "002-oom.json"),
                     f"{first}The whole account: plimsoll diagnose {path}\n")):
                for name in names:
                    open(os.path.join(folder, name), "w", encoding="ascii").close()
                page = io.StringIO()
                with mock.patch.dict(os.environ, PLIMSOLL_QUIET=quiet):
                    with contextlib.redirect_stderr(page):
                        _after.say_at_exit(one)
                self.assertEqual(page.getvalue(), said)


class ImportTest(unittest.TestCase):
    def python(self, source, folder=os.path.join(ROOT, "python")):
        return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "PYTHONPATH": folder})

    def test_the_package_imports_nothing(self):
        done = self.python("import sys; before = set(sys.modules); import plimsoll\n"
                           "print(sorted(set(sys.modules) - before))")
        self.assertEqual((done.stdout, done.stderr), ("['__future__', 'plimsoll']\n", ""))

    def test_a_missing_agent_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(ROOT, "python", "plimsoll"),
                            os.path.join(folder, "plimsoll"),
                            ignore=shutil.ignore_patterns("_native", "__pycache__"))
            done = self.python("import plimsoll.auto; print('goes on')", folder)
        self.assertEqual(done.stdout, "goes on\n")
        self.assertRegex(done.stderr, r"^plimsoll: nothing is recorded: ImportError: .*agent\b.*\n$")


if __name__ == "__main__":
    unittest.main()
