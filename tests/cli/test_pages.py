#!/usr/bin/env python3
"""test_pages.py PLIMSOLL - help, documentation and the pages of our recordings are as approved.

Every command that `plimsoll help` lists has docs/commands/<name>.md, which names each of its
options, and its help is tests/golden/help-<name>.txt. Pages of some recordings are compared with
tests/golden/recording-*.txt; durations and file sizes, which change when the recordings are made
anew, are masked. PLIM_BLESS=1 rewrites the golden files.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
GOLDEN = pathlib.Path("tests/golden")
RECORDINGS = pathlib.Path("tests/data/recordings")
PAGES = {
    "recording-oom": ("out_of_memory.pickle",),
    "recording-two-devices": ("two_devices.pickle.gz",),
    "recording-wrapped": ("wrapped_history.pickle",),
    "recording-at-a-step": ("--at=step:1:end", "--categories", "--top=3", "train_gpt.pickle"),
    "recording-never-freed": ("--never-freed", "--stack=gpt.py", "--top=2", "train_gpt.pickle"),
    "recording-cpp-frames": ("--top=2", "--frames=6", "cpp_stacks.pickle.zst"),
}
PROFILES = pathlib.Path("tests/data/profiles")
PROFILED = {
    "profile-kineto": ("--top=4", "kineto.json.gz"),
    "profile-timeline": ("timeline.raw.json.gz",),
    "profile-rmm": ("rmm.csv",),
}
FRAGMENTED = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
              "capacity of 23.64 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this "
              "process has 22.50 GiB memory in use. Of the allocated memory 15.00 GiB is allocated by "
              "PyTorch, and 7.10 GiB is reserved by PyTorch but unallocated.\n")


def run(*arguments):
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return subprocess.run([PLIMSOLL, *arguments], env={**environment, "LC_ALL": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, capture_output=True, check=True,
                          timeout=60).stdout.decode()


def masked(page):
    """Without what differs between two recordings of one program."""
    page = re.sub(r"\d+ min \d+ s|\d[\d.]* (us|ms|s)\b", "<time>", page)
    lines = page.splitlines()
    lines[1] = re.sub(r" · [\d.]+ [KMG]?i?B$", " · <size>", lines[1])
    return "\n".join(lines) + "\n"


def commands():
    return re.findall(r"(?m)^  ([a-z]+) +\S", run("help"))


class Pages(unittest.TestCase):
    maxDiff = None

    def check(self, name, text):
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("PLIM_BLESS"):
            path.write_text(text)
        self.assertTrue(path.exists(), f"{path} is not there; PLIM_BLESS=1 writes it")
        self.assertEqual(path.read_text(), text)

    def test_there_are_commands(self):
        self.assertIn("inspect", commands())
        self.check("help", run("help"))

    def test_help_is_as_approved(self):
        for command in commands():
            self.check(f"help-{command}", run(command, "--help"))

    def test_every_command_is_documented(self):
        for command in commands():
            page = pathlib.Path("docs/commands", f"{command}.md")
            self.assertTrue(page.exists(), f"{page} is missing")
            text = page.read_text()
            for option in re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+)", run(command, "--help")):
                self.assertIn(f"`--{option}", text, f"{page} does not explain --{option}")
            self.assertIn("Example", text)

    def test_examples_for_scripts_do_not_mistake_a_missing_file_for_an_answer(self):
        examples = [line[2:] for page in pathlib.Path("docs").rglob("*.md")
                    for line in page.read_text().splitlines()
                    if line.startswith("$ ") and "--fail-on" in line and " && " in line]
        self.assertGreater(len(examples), 2)
        with tempfile.TemporaryDirectory() as folder:
            files = pathlib.Path(folder, "files")
            files.mkdir()
            (files / "train.log").write_text(FRAGMENTED)
            (files / "snapshot.pickle").write_bytes((RECORDINGS / "out_of_memory.pickle").read_bytes())
            path = f"{pathlib.Path(PLIMSOLL).resolve().parent}:{os.environ['PATH']}"
            for example in examples:
                answers = []
                for where in (folder, files):
                    done = subprocess.run(["sh", "-c", example], cwd=where, capture_output=True,
                                          env={**os.environ, "PATH": path}, timeout=60, check=False)
                    answers.append(done.stdout)
                self.assertEqual(answers[0], b"", example)
                if "explain" in example:
                    self.assertNotEqual(answers[1], b"", example)

    def test_recordings_read_as_approved(self):
        for name, words in PAGES.items():
            *options, file = words
            self.check(name, masked(run("inspect", *options, str(RECORDINGS / file))))

    def test_profiles_read_as_approved(self):
        for name, words in PROFILED.items():
            *options, file = words
            self.check(name, masked(run("inspect", *options, str(PROFILES / file))))

    def test_every_command_reads_profiles(self):
        for _, (*_, file) in PROFILED.items():
            for command in ("diagnose", "replay", "tune"):
                page = run(command, str(PROFILES / file))
                self.assertNotRegex(page, r"(?<![\d.])0 B reserved", f"{command} {file}")


if __name__ == "__main__":
    unittest.main()
