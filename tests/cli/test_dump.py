#!/usr/bin/env python3
"""test_dump.py PLIMSOLL - dumps on request, of processes whose pages the agent itself writes."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]

# A process with a page, whose recorder writes files in place of dumps; "held" never looks again.
PROGRAM = """
import os, pathlib, sys, time
sys.path[:0] = sys.argv[1:3]
from test_live_page import Recorder, publishers
folder = pathlib.Path(sys.argv[3], str(os.getpid()))
folder.mkdir(parents=True)
recorder = Recorder(str(folder))
plain = recorder.dump
def dump(reason):
    if "fails" in sys.argv:
        raise OSError("no space")
    if "dies" in sys.argv:
        os._exit(1)
    name = plain(reason)
    for ending in (".json", ".holders.json") + (() if "bare" in sys.argv else (".pickle",)):
        (folder / (name + ending)).write_text("{}")
    return name
recorder.dump = dump
publisher = publishers.Publisher(recorder, os.environ)
if "held" in sys.argv:
    publisher._run = lambda wake: None
publisher.begin()
print("ready", flush=True)
sys.stdin.read()
"""


class DumpTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="plimsoll dump ")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.environment = {**os.environ, "PLIMSOLL_LIVE": str(self.folder / "pages")}

    def program(self, *words, run="run"):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(ROOT / "src/agent"), str(ROOT / "tests/agent"),
             str(self.folder / run), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process.pid

    def dump(self, *words):
        return subprocess.run([PLIMSOLL, "dump", *map(str, words)], capture_output=True, text=True,
                              env=self.environment, timeout=100, check=False)

    def document(self, *words):
        done = self.dump("--json", *words)
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "dump/1")
        return done.returncode, document["dumps"]

    def test_says_where_the_files_are(self):
        pid = self.program()
        done = self.dump(pid)
        at = re.escape(str(self.folder / "run" / str(pid) / "001-request"))
        self.assertRegex(done.stdout, rf"^process {pid}, after 0 steps: dumped in \S+ \S+\n"
                                      rf"  snapshot  {at}\.pickle\n"
                                      rf"  holders   {at}\.holders\.json\n"
                                      rf"  account   {at}\.json\n\n"
                                      rf"look at it with: plimsoll diagnose {at}\.pickle\n$")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_as_a_document(self):
        pid = self.program()
        self.dump(pid)
        status, (found,) = self.document(pid)
        folder = str(self.folder / "run" / str(pid))
        self.assertEqual(status, 0)
        self.assertEqual({key: found[key] for key in found if "seconds" not in key},
                         {"pid": pid, "rank": None, "outcome": "done", "steps": 0,
                          "folder": folder, "document": f"{folder}/002-request.json",
                          "snapshot": f"{folder}/002-request.pickle",
                          "holders": f"{folder}/002-request.holders.json"})

    def test_without_a_snapshot(self):
        status, (found,) = self.document(self.program("bare"))
        self.assertEqual((status, found["snapshot"]), (0, None))

    def test_a_dump_that_fails(self):
        pid = self.program("fails")
        done = self.dump(pid)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f'process {pid} could not dump: "warnings" of', done.stdout)

    def test_a_process_that_ends(self):
        status, (found,) = self.document(self.program("dies"))
        self.assertEqual((status, found["outcome"]), (3, "gone"))

    def test_a_process_that_is_held(self):
        pid = self.program("held")
        done = self.dump("--wait=200ms", pid)
        self.assertEqual(done.returncode, 3)
        self.assertIn("did not answer within", done.stdout)
        self.assertIn("a long call holds Python's interpreter", " ".join(done.stdout.split()))
        page = (self.folder / "pages" / f"{pid}.live").read_bytes()
        self.assertEqual(page[16:24], page[24:32])  # the request was withdrawn

    def test_a_process_that_is_stopped(self):
        pid = self.program()
        os.kill(pid, signal.SIGSTOP)
        try:
            status, (found,) = self.document("--wait=200ms", pid)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertEqual((status, found["outcome"]), (3, "no_answer"))

    def test_all_of_a_run(self):
        first, second = self.program(), self.program()
        other = self.program(run="other")
        status, found = self.document("--all", first)
        self.assertEqual((status, [one["pid"] for one in found]), (0, sorted([first, second])))
        status, found = self.document("--all", os.getpid())  # it started them
        self.assertEqual([one["pid"] for one in found], sorted([first, second, other]))

    def test_who_started_it_is_not_it(self):
        pid = self.program()
        done = self.dump(os.getpid())
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"started 1 that can be dumped ({pid})", done.stderr)

    def test_processes_without_a_page(self):
        for words, says in (((2**22 + 1,), "there is no process"),
                            ((os.getpid(),), "does not run under Plimsoll")):
            done = self.dump(*words)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn(says, done.stderr)

    def test_wrong_usage(self):
        for words, says in (((), "which process?"), (("x",), "PID"), ((0,), "PID"),
                            ((1, 2), "one process at a time"), (("--wait=-1", 1), "wait")):
            with self.subTest(words=words):
                done = self.dump(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()
