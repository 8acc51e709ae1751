#!/usr/bin/env python3
"""The file of `--plimsoll-lock`: what it has, what it holds a test to, how it is read and written.

    test_pytest_lock.py PLIMSOLL    the command reads the file too
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLIMSOLL = sys.argv.pop(1) if len(sys.argv) > 1 else "plimsoll"
MIB = 1 << 20


def _load():
    """The module alone: its package imports pytest."""
    path = ROOT / "python" / "plimsoll" / "pytest_plugin" / "lock.py"
    spec = importlib.util.spec_from_file_location("lock", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lock"] = module
    spec.loader.exec_module(module)
    return module


lock = _load()
MACHINE = {"gpu": "NVIDIA GeForce RTX 4090", "devices": 1, "capacity_bytes": 24080 * MIB, "conf": "",
           "torch": "2.11.0+cu130"}


def entry(nodeid="test_it.py::test_a", mib=100, groups=(), **machine):
    made = [{"bytes": count * MIB, "count": 1, "stack": list(stack)} for count, *stack in groups]
    return lock.entry(nodeid, {**MACHINE, **machine}, 0, mib * MIB, made)


class Locked(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="plim lock "))  # with blanks
        self.addCleanup(shutil.rmtree, self.place, True)
        self.path = str(self.place / "plimsoll.lock")

    def written(self, *entries):
        made = lock.Lock(self.path)
        for one in entries:
            made.put(one)
        made.write()
        return pathlib.Path(self.path).read_text()

    # --- text

    def test_one_set_of_entries_is_one_text(self):
        entries = [entry("b.py::test_é[x y]"), entry("a.py::test"), entry("a.py::test", gpu="H100"),
                   entry("a.py::test", conf="expandable_segments:True"), entry("B.py::test")]
        text = self.written(*entries)
        self.assertEqual(self.written(*reversed(entries)), text)
        self.assertEqual(lock.Lock.read(self.path).text(), text)
        self.assertEqual([one["command"] for one in json.loads(text)["entries"]],
                         ["pytest B.py::test"] + ["pytest a.py::test"] * 3 + ["pytest b.py::test_é[x y]"])

    def test_what_is_the_same_is_not_written(self):
        self.written(entry())
        before = os.stat(self.path).st_ino
        self.assertFalse(lock.Lock.read(self.path).write())
        self.assertEqual(os.stat(self.path).st_ino, before)

    def test_a_link_and_its_mode_stay(self):
        real = self.place / "real.lock"
        real.write_text("")
        real.chmod(0o640)
        os.symlink(real, self.path)
        self.written(entry())
        self.assertTrue(os.path.islink(self.path))
        self.assertEqual(real.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(path.name for path in self.place.iterdir()),
                         ["plimsoll.lock", "real.lock"])

    def test_entries_of_rehearsals_stay(self):
        other = {**entry(), "command": "python train.py", "steps": 3, "device_use_bytes": 5,
                 "later": {"of": "a newer release"}}
        self.written(other)
        read = lock.Lock.read(self.path)
        read.put(entry())
        read.write()
        again = json.loads(pathlib.Path(self.path).read_text())["entries"]
        self.assertEqual(again, [entry(), other])
        self.assertEqual([lock.test_of(one) for one in again], ["test_it.py::test_a", None])

    def test_the_command_reads_it(self):
        self.written(entry(groups=[(60, "a.py:1 in f"), (40,)]))
        for text, status in (("", None), ("x", 3)):
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([PLIMSOLL, "rehearse", f"--check={self.path}", "--", "true"],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual("plimsoll.lock" in done.stderr, status is not None, done.stderr)

    # --- bad files

    def test_what_is_no_lock_is_refused(self):
        good = self.written(entry(groups=[(60, "a.py:1 in f")]))
        document = json.loads(good)
        bad = ["", "[]", "{}", "[" * 100000, good.replace("lock/1", "lock/2"), good[:-20],
               '{"schema": "lock/1", "entries": {}}', '{"schema": "lock/1", "entries": [3]}',
               good.replace('"count": 1', '"count": true'), good.replace(f"{100 * MIB}", "-1"),
               good.replace('"a.py:1 in f"', "4"), good.replace('"peaks"', '"peeks"')]
        self.assertEqual(len(document["entries"]), 1)
        for text in bad:
            with self.subTest(text[:60]):
                pathlib.Path(self.path).write_text(text)
                with self.assertRaises(lock.LockError) as caught:
                    lock.Lock.read(self.path)
                self.assertTrue(str(caught.exception).startswith(self.path))
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_two_branches(self):
        good = self.written(entry())
        pathlib.Path(self.path).write_text(good.replace("  ]", "<<<<<<< HEAD\n  ]"))
        with self.assertRaisesRegex(lock.LockError, r"plimsoll\.lock:\d+: two branches"):
            lock.Lock.read(self.path)

    def test_what_cannot_be_written(self):
        with self.assertRaisesRegex(lock.LockError, "cannot be written"):
            lock.Lock(str(self.place / "none" / "plimsoll.lock")).write()
        with self.assertRaisesRegex(lock.LockError, "cannot be read"):
            lock.Lock.read(str(self.place))

    # --- what it holds a test to

    def test_a_difference(self):
        for now, before, above in ((101, 100, False), (102, 100, True), (1002, 1000, False),
                                   (1011, 1000, True), (1, 0, False), (2, 0, True), (99, 100, False)):
            self.assertEqual(lock.is_above(now * MIB, before * MIB, before * MIB), above, (now, before))

    def test_the_line_that_grew(self):
        a, b = (60, "a.py:10 in f", "t.py:3 in test"), (40, "a.py:20 in g")
        for before, now, line in (
                ([a, b], [a, b], None),
                ([], [a, b], None),  # it was locked without lines
                ([a, b], [(61, "a.py:15 in f", "t.py:4 in test"), (70, "a.py:25 in g"), (9,)],
                 ("a.py:25 in g", 30, "grew")),  # lines have moved
                ([b], [b, (3, "a.py:22 in g")], ("a.py:22 in g", 3, "new")),
                ([b], [(3, "a.py:20 in g"), (40, "a.py:21 in g")], ("a.py:20 in g", 3, "new")),
                ([b], [(45, "a.py:20 in g"), (4, "a.py:19 in g")], ("a.py:20 in g", 5, "grew")),
                ([b, (5, "a.py:30 in g")], [(50, "a.py:30 in g"), (7, "a.py:40 in g")],
                 ("a.py:30 in g", 10, "grew")),
                ([a, (9,)], [a, b], ("a.py:20 in g", 40, "large")),
                ([a, b], [b], None)):
            with self.subTest(now):
                found = lock.grown(entry(groups=before), entry(groups=now))
                self.assertEqual(found, line and (line[0], line[1] * MIB, line[2]))

    def test_frames_that_called_the_test(self):
        stack = ["net.py:3 in f", "t/test_it.py:5 in test", "<string>:1 in <module>"]
        self.assertEqual(lock.cut(stack, "t/test_it.py"), stack[:2])
        self.assertEqual(lock.cut(stack, "t/test_i.py"), stack)
        self.assertEqual(lock.cut([], "t/test_it.py"), [])

    def test_the_smallest_lines_are_one(self):
        made = entry(groups=[(20 - i, f"a.py:{i} in f{i}") for i in range(12)])
        groups = made["peaks"][0]["groups"]
        self.assertEqual(len(groups), lock.GROUPS_MOST + 1)
        self.assertEqual(groups[-1], {"bytes": sum(range(9, 13)) * MIB, "count": 4, "stack": []})


class OldPytest(unittest.TestCase):
    def test_the_plugin_is_without_hooks_there(self):
        """As an entry point it is loaded by each pytest of its environment."""
        for pytest, pluggy, has_hooks in (("6.2.5", "1.6.0", False), ("7.0.1", "1.0.0", False),
                                          ("10.1.dev1+g3", "1.0.0rc1", False)):
            code = ("import sys, types\n"
                    f"for name, version in (('pytest', {pytest!r}), ('pluggy', {pluggy!r})):\n"
                    "    sys.modules[name] = types.ModuleType(name)\n"
                    "    sys.modules[name].__version__ = version\n"
                    "import plimsoll.pytest_plugin as plugin\n"
                    "print(any(name.startswith('pytest_') for name in dir(plugin)))\n")
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                                  timeout=60, check=False)
            self.assertEqual((done.stdout, done.stderr), (f"{has_hooks}\n", ""))


if __name__ == "__main__":
    unittest.main()
