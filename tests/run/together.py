"""Runs a program twice, without and with the recorder of `plimsoll run`, and compares.

Both times it gets what stands in the environment (a rehearsal's stand-ins, or nothing), without the
agent of the rehearsal, so that the recorder is alone, as it is on a GPU.
"""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.abspath(os.path.join(HERE, "..", "..", "src", "agent"))
PROGRAMS = os.path.join(HERE, "programs")
SECONDS_MAX = 240
LINE_MAX = 6000
# What differs between two runs of one program: addresses, numbers of processes, clocks.
VARYING = (
    (re.compile(r"^[VIWE]\d{4} \d\d:\d\d:\d\d\.\d+ \d+", re.M), "W…"),
    (re.compile(r"Terminating process \d+"), "Terminating process …"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"\bp?id[ =:]+\d+"), "pid …"),
    (re.compile(r"\b\d+\.\d+ ?(s|ms|seconds)\b"), "… s"),
)


class Ended:
    """A program's end.

    folder  of the run, or None
    """

    def __init__(self, process, folder):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.folder = folder

    def processes(self):
        """Of those that used CUDA, what the recorder wrote of each, the first one first."""
        found = []
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name, "process.json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found.append(json.load(file))
        return sorted(found, key=lambda process: (process["started"], process["pid"]))

    def files(self):
        """Of all processes, by their names: "process.json", "001-oom.pickle"."""
        return sorted(name for _, _, names in os.walk(self.folder) for name in names)


def even(text):
    """A text without what differs from run to run."""
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def shorter(line):
    return line if len(line) < LINE_MAX else f"{line[:LINE_MAX]}… ({len(line)})"


class Together(unittest.TestCase):
    """Programs in a folder of their own."""

    maxDiff = None
    python = sys.executable

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="plimsoll together ")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, source):
        """A file of the program's; its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(source))
        return path

    def variables(self, run, more):
        """The environment; the recorder is armed for a run's folder."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("PLIMSOLL_") or name == "PLIMSOLL_STAGE"}
        paths = [path for path in kept.get("PYTHONPATH", "").split(os.pathsep)
                 if path and os.path.basename(path) != "agent"]
        own = os.path.join(self.folder, "own")
        paths = ([AGENT] if run else []) + [own, PROGRAMS] + paths
        kept.update(PYTHONPATH=os.pathsep.join(paths), PYTHONHASHSEED="0", OMP_NUM_THREADS="1",
                    PYTHONDONTWRITEBYTECODE="1")
        if run:
            kept.update(PLIMSOLL_RUN=run, PLIMSOLL_LIVE=os.path.join(self.folder, "live"))
        kept.update(more)
        return kept

    def one(self, words, armed, prepare=None, **options):
        """Runs a command; those of Python start with its script or options."""
        run = None
        if armed:
            run = tempfile.mkdtemp(prefix="run ", dir=self.folder)
        for name in ("work", "live"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        work = os.path.join(self.folder, "work")
        os.makedirs(work)
        if prepare is not None:
            prepare(run)
        environment = self.variables(run, options.pop("variables", {}))
        process = subprocess.run([self.python, *words], cwd=work, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=SECONDS_MAX, check=False,
                                 **{"stdin": subprocess.DEVNULL, **options})
        return Ended(process, run)

    def both(self, source, *words, is_same=even, status=0, says=False, **options):
        """Runs a program without and with the recorder; it must do the same. The one with.

        source   its text, or None where `words` are the whole command
        is_same  makes two texts alike that may differ
        status   its exit status
        says     whether one line of ours may say that nothing can be written
        """
        if source is not None:
            words = (self.write("train.py", source), *words)
        without = self.one(words, armed=False, **options)
        with_it = self.one(words, armed=True, **options)
        self.same_lines(is_same(with_it.out), is_same(without.out), with_it.err)
        if says:
            ours = [line for line in with_it.err.splitlines() if line.startswith("plimsoll: ")]
            self.assertLessEqual(len(ours), 1, with_it.err)
            for line in ours:
                self.assertIn("the program is not affected", line)
                with_it.err = with_it.err.replace(line + "\n", "")
        self.same_lines(is_same(with_it.err), is_same(without.err))
        self.assertEqual((without.status, with_it.status), (status, status), with_it.err)
        return with_it

    def same_lines(self, found, expected, note=""):
        """Shows the lines that differ, and no others."""
        found, expected = found.splitlines(), expected.splitlines()
        if found != expected:
            lines = difflib.unified_diff(expected, found, "without", "with", "", n=0)
            self.fail("\n".join([*(shorter(line) for line in lines), note]))

    def fine(self, ended, count=1):
        """The processes of a run, none of which has a failure of ours to report."""
        processes = ended.processes()
        self.assertEqual(len(processes), count, ended.files())
        for process in processes:
            self.assertEqual([line for line in process["warnings"] if "could not" in line], [])
        return processes
