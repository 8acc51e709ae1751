"""Kills programs in the midst of their dumps, and looks for files that are half there."""

import json
import os
import pathlib
import pickle
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LONGEST = 0.4  # seconds from the first failure to about the end


def torn(folder):
    """Sentences on what is not whole in the folder of a process (docs/formats/run-folder.md)."""
    wrong = []
    for path in sorted(folder.iterdir()):
        try:
            if path.suffix == ".json":
                wrong += missing(folder, path.name, json.loads(path.read_text(encoding="utf-8")))
            elif path.suffix == ".pickle":
                pickle.loads(path.read_bytes())
            elif path.suffix != ".part":
                wrong.append(f"{path.name}: of an unknown kind")
        except (ValueError, EOFError, pickle.UnpicklingError) as error:
            wrong.append(f"{path.name} is half there: {error}")
    return wrong


def missing(folder, name, document):
    """Sentences on what a document names that is not there."""
    named = [document[kind] for kind in ("snapshot", "holders")
             if isinstance(document.get(kind), str)]
    named += [f"{dump}.json" for dump in document.get("dumps") or ()]
    return [f"{name} names {other}, which is not there"
            for other in named if not (folder / other).is_file()]


def processes(folder):
    return [path for path in sorted((folder / "run").iterdir()) if path.is_dir()]


class Kills:
    """
    wrong    sentences
    figures  half a sentence on what was done
    """

    def __init__(self):
        self.wrong = []
        self.figures = ""

    def expect(self, holds, words):
        if not holds:
            self.wrong.append(words)


def under_plimsoll(plimsoll, python, device):
    """A way to launch a Python program: (words before it, environment), for the folder of a run."""
    def launch(run):
        return [plimsoll, "run", "--quiet", *device, "--dumps=2", "--output", run, "--",
                python], None

    return launch


def with_fake_torch(run):
    """Without PyTorch and without a launcher."""
    run.mkdir()
    paths = [HERE.parents[1] / "src" / "agent", HERE.parent / "agent" / "fakes"]
    return [sys.executable], {**os.environ, "PLIMSOLL_RUN": str(run), "PLIMSOLL_DUMPS": "2",
                              "PLIMSOLL_LIVE": "off", "PLIMSOLL_QUIET": "1",
                              "PYTHONPATH": os.pathsep.join(map(str, paths))}


def start(launch, folder, moments):
    """Children that came to their end: (process, moment, operations counted)."""
    folder.mkdir()
    counts = folder / "counts"
    counts.write_text("")
    words, environment = launch(folder / "run")
    subprocess.run([*words, HERE / "killed.py", counts, *map(str, moments)], env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=550, check=True)
    return [line.split() for line in counts.read_text().splitlines()]


def hold(launch, folder, sample, times):
    """Kills at so many operations on files (0: at each), and at so many times."""
    kills = Kills()
    whole, cut = folder / "whole", folder / "cut"
    ended = start(launch, whole, [0])
    if len(ended) != 1:
        kills.expect(False, f"{len(ended)} of 1 program came to its end")
        return kills
    operations = int(ended[0][2])
    kills.expect(operations > 30, f"only {operations} operations on files")
    for path in processes(whole):
        kills.wrong += torn(path)
        kills.expect(not list(path.glob("*.part")), "files were left half")
        process = json.loads((path / "process.json").read_text(encoding="utf-8"))
        kills.expect(process["ended"] == "oom", f"it ended by {process['ended']}")

    step = max(operations // sample, 1) if sample else 1
    moments = list(range(1, operations + 1, step))
    moments += [round((index + 0.5) / times * LONGEST, 4) for index in range(times)]
    ended = start(launch, cut, moments)
    kills.expect(len(ended) <= times, f"{len(ended)} of {len(moments)} came to their end")
    folders = processes(cut)
    kills.expect(len(folders) > len(moments) // 2, f"{len(folders)} processes left a folder")
    kills.wrong += [f"{path.name}: {words}" for path in folders for words in torn(path)]
    parts = sum(1 for _ in cut.rglob("*.part"))
    kills.figures = (f"killed at {len(moments) - times} of {operations} operations on files and "
                     f"{times} times: {parts} half files, all under another name")
    return kills
