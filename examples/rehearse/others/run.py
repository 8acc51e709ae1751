#!/usr/bin/env python3
"""Rehearses programs of others, unmodified.

    run.py [--plimsoll FILE] [--python FILE] [NAME...]

Without names: their list. Each program gets an environment of its own, with pinned packages and
PyTorch without the vendor's libraries, under ${XDG_CACHE_HOME:-~/.cache}/plimsoll/others. Those
whose source is not on PyPI are cloned with git; PLIM_OTHERS_SOURCES names a folder with NAME/ in
it, to be copied instead. Nothing is fetched while a program runs: data and weights are made up.

Exit status: 0 all that must hold holds, 1 something does not, 2 no such program, 77 a program
could not be had.
"""

import argparse
import hashlib
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
CACHE = (pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
         / "plimsoll" / "others")
SECONDS_MAX = 900
OK, FAILED, USAGE, NOT_HAD = 0, 1, 2, 77


class NotHad(Exception):
    """A program, or what it needs, cannot be had here."""


def programs():
    """{name: program}, of all files in programs/."""
    sys.path.insert(0, str(HERE))
    found = {}
    for file in sorted((HERE / "programs").glob("*.py")):
        module = importlib.import_module(f"programs.{file.stem}")
        for program in getattr(module, "PROGRAMS", None) or [getattr(module, "PROGRAM", None)]:
            if program is not None:
                found[program.name] = program
    return found


def call(command, **options):
    """Runs a command; its last words are the reason if it fails."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                         **options)
    if run.returncode != 0:
        words = (run.stderr or run.stdout).strip().splitlines()
        raise NotHad(f"{' '.join(map(str, command[:4]))}: {words[-1] if words else 'failed'}")
    return run.stdout


def make_environment(program, base):
    """The folder of its environment: PyTorch's files are links to those of `base`."""
    asked = "\n".join(program.packages)
    key = hashlib.sha256(f"{base}\n{asked}".encode()).hexdigest()[:8]
    name = program.environment or program.name
    folder = CACHE / name / f"environment-{key}"
    if (folder / "installed").exists():
        return folder
    print(f"{program.name}: installing {len(program.packages)} packages into {folder}",
          file=sys.stderr)
    packages = call([base, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"])
    call([base, "-m", "venv", "--clear", folder])
    own = call([folder / "bin" / "python", "-c",
                "import sysconfig; print(sysconfig.get_paths()['purelib'])"]).strip()
    for entry in pathlib.Path(packages.strip()).iterdir():
        if entry.name.split("-")[0] not in ("pip", "__pycache__"):
            link(entry, pathlib.Path(own) / entry.name)
    lists = folder / "packages.txt"
    lists.write_text(asked + "\n")
    call([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps",
          "--no-build-isolation", "--disable-pip-version-check", "-r", lists],
         env={**os.environ, "DS_BUILD_OPS": "0"})
    (folder / "bin" / "torchrun").write_text(
        f"#!{folder}/bin/python\nfrom torch.distributed.run import main\nmain()\n")
    (folder / "bin" / "torchrun").chmod(0o755)
    (folder / "installed").touch()
    return folder


def link(source, target):
    """Hard links: they take no room. Copies, where the two lie on different disks."""
    if target.exists():
        return
    if source.is_dir():
        try:
            shutil.copytree(source, target, copy_function=os.link)
        except (OSError, shutil.Error):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def get_source(program, folder):
    """Puts the program's source into folder/source."""
    if program.source is None:
        return
    place = folder / "source"
    url, tag = program.source
    given = os.environ.get("PLIM_OTHERS_SOURCES")
    local = pathlib.Path(given) / program.name if given else None
    if local is not None and local.is_dir():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(local, place, ignore=shutil.ignore_patterns(".git"))
        return
    marker = folder / "source.tag"
    if place.is_dir() and marker.is_file() and marker.read_text() == tag:
        return
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    call(["git", "init", "--quiet", place])
    call(["git", "-C", place, "fetch", "--quiet", "--depth=1", url, tag],
         env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
    call(["git", "-C", place, "checkout", "--quiet", "FETCH_HEAD"])
    marker.write_text(tag)


def put_in(words, folder):
    """A command with its folders in the places of their names."""
    places = {"SCRIPTS": HERE / "scripts", "DATA": folder / "data", "WORK": folder / "work"}
    filled = []
    for word in words:
        for name, place in places.items():
            word = word.replace(name, str(place)) if name in word else word
        filled.append(word)
    return filled


class Runner:
    """Of one program."""

    def __init__(self, program, plimsoll, base):
        self.program = program
        self.plimsoll = plimsoll
        self.folder = CACHE / program.name
        for name in ("work", "data"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "work").mkdir(parents=True)
        get_source(program, self.folder)
        self.environment = make_environment(program, base)
        if program.feed is not None:
            program.feed(self.folder)

    def variables(self):
        return {**os.environ, "PATH": f"{self.environment}/bin:{os.environ['PATH']}",
                "HF_HUB_OFFLINE": "1", "HF_HOME": str(self.folder / "work" / "hf"),
                "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled",
                "TORCH_HOME": str(self.folder / "work" / "torch")}

    def rehearse(self, words, options=()):
        """(document or None, standard error, seconds)."""
        folder = self.folder / "work"
        if self.program.in_source is not None:
            folder = self.folder / "source" / self.program.in_source
        began = time.monotonic()
        run = subprocess.run([self.plimsoll, "rehearse", "--json", *options, "--",
                              *put_in(words, self.folder)], cwd=folder, env=self.variables(),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             errors="replace", timeout=SECONDS_MAX)
        seconds = time.monotonic() - began
        (self.folder / "stderr.txt").write_text(run.stderr)
        try:
            return json.loads(run.stdout), run.stderr, seconds
        except ValueError:
            return None, run.stderr, seconds

    def run(self):
        """(document, complaints, seconds)."""
        for words in self.program.makers:
            document, errors, _ = self.rehearse(words)
            if document is None or document["exit_status"] != 0:
                raise NotHad(f"{words[1]} failed: {last_line(errors)}")
        document, errors, seconds = self.rehearse(
            self.program.command,
            [f"--gpu={self.program.gpu}", f"--devices={self.program.devices}"])
        if document is None:
            return None, [f"no document: {last_line(errors)}"], seconds
        (self.folder / "rehearsal.json").write_text(json.dumps(document, indent=2))
        return document, complaints(self.program, document, errors), seconds


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no words"


def complaints(program, document, errors):
    """What does not hold."""
    found = []

    def must(holds, words):
        if not holds:
            found.append(words)

    must(document["verdict"] in program.verdicts,
         f"the verdict is {document['verdict']}, and {' or '.join(program.verdicts)} was expected")
    must(document["exit_status"] == 0, f"it ended with {document['exit_status']}: "
                                       f"{last_line(errors)}")
    must(not any(line.startswith("plimsoll") or "warn_or_error_on_sync" in line
                 for line in errors.splitlines()), "a line of ours is on standard error")
    trained = [process for process in document["processes"] if process["devices"]]
    must(len(trained) == program.devices, f"{len(trained)} processes used a GPU")
    for process in trained:
        rank = process["rank"]
        must(process["steps"] == program.steps,
             f"rank {rank}: {process['steps']} steps and not {program.steps}")
        failures = [line for line in process["warnings"] if "the agent could not" in line]
        must(not failures, f"rank {rank}: {'; '.join(failures)}")
        device = next(iter(process["devices"]))
        peak, end = device["peak_allocated_bytes"], device["allocated_bytes"]
        must(program.low <= peak <= program.high,
             f"rank {rank}: allocated {peak:,} B is not in {program.low:,} .. {program.high:,}")
        if program.at_end is not None:
            low, high = program.at_end
            must(low <= end <= high, f"rank {rank}: at the end {end:,} B, not {low:,} .. {high:,}")
    return found


def gib(count):
    return f"{count / 2**30:.2f} GiB"


def report(program, document, found, seconds):
    if document is not None:
        print(f"{program.name:16} {document['verdict']:14} "
              f"{gib(document['peak_allocated_bytes']):>10} "
              f"{gib(document['peak_reserved_bytes']):>10} "
              f"{gib(document['peak_device_bytes']):>10} {seconds:5.0f} s  "
              f"{'as it must' if not found else 'NOT as it must'}")
    for line in found:
        print(f"  {program.name}: {line}")
    sys.stdout.flush()


def run_one(program, plimsoll, base):
    """An exit status."""
    if program.refused is not None:
        print(f"{program.name:16} refused: {program.refused}")
        return OK
    try:
        document, found, seconds = Runner(program, plimsoll, base).run()
    except NotHad as error:
        print(f"{program.name:16} not had: {error}")
        return NOT_HAD
    except subprocess.TimeoutExpired:
        print(f"{program.name:16} did not end in {SECONDS_MAX} s")
        return FAILED
    report(program, document, found, seconds)
    return FAILED if found else OK


def main():
    parser = argparse.ArgumentParser(description="rehearses programs of others, unmodified")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--plimsoll", default=str(ROOT / "build" / "release" / "plimsoll"))
    parser.add_argument("--python", help="one with PyTorch; tools/torch-python's, if not said")
    arguments = parser.parse_args()
    known = programs()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        print(f"others: {unknown[0]} is not one of {' '.join(sorted(known))}", file=sys.stderr)
        return USAGE
    if not arguments.names:
        for name, program in sorted(known.items()):
            print(f"{name:16} {program.what}")
        return OK
    base = arguments.python
    if base is None:
        run = subprocess.run([ROOT / "tools" / "torch-python"], stdout=subprocess.PIPE, text=True)
        if run.returncode != 0:
            return run.returncode
        base = run.stdout.strip()
    plimsoll = os.path.abspath(arguments.plimsoll)
    print(f"{'program':16} {'verdict':14} {'allocated':>10} {'reserved':>10} {'device use':>10} "
          f"{'time':>7}")
    return max(run_one(known[name], plimsoll, base) for name in arguments.names)


if __name__ == "__main__":
    sys.exit(main())
