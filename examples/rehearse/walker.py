"""What run_all.py and check_runs.py share: a walk through the catalogue, several runs at a time."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def options_of(one):
    """The device of a run, as options of plimsoll."""
    options = ["--gpu", one.gpu, "--devices", str(one.devices)]
    if one.capacity:
        options += ["--capacity", one.capacity]
    if one.conf:
        options += ["--conf", one.conf]
    return options


def program_of(one, python, folder):
    """The command after the `--`, with the programs in `folder`."""
    start = [python]
    if one.torchrun:
        start += ["-m", "torch.distributed.run", "--standalone",
                  "--nproc-per-node", str(one.torchrun)]
    return [*start, f"{folder}/{one.program}", *one.arguments]


def missing(one, python):
    """The package this run needs and `python` lacks, or None."""
    if one.needs is None:
        return None
    look = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{one.needs}'))"
    return one.needs if subprocess.run([python, "-c", look]).returncode else None


def load(path):
    """A document, or None."""
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class Outcome:
    """One run of the catalogue: what came of it, and what is wrong."""

    def __init__(self, one):
        self.one = one
        self.wrong = []
        self.skipped = None
        self.checked = 0
        self.seconds = 0.0

    def check(self, holds, words):
        self.checked += 1
        if not holds:
            self.wrong.append(words)

    def line(self):
        if self.skipped:
            return f"{self.one.name:28}skipped: {self.skipped} is not installed"
        return (f"{self.one.name:28}{self.one.label:11}{self.figures()}  "
                f"{'WRONG' if self.wrong else 'ok'}")

    def figures(self):
        """The columns between label and verdict."""
        raise NotImplementedError


def add_arguments(parser):
    parser.add_argument("plimsoll")
    parser.add_argument("python", help="one that has PyTorch for CUDA")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these runs of the catalogue")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="so many at once (as many as there are processors)")


def absolute(path):
    return str(pathlib.Path(path).absolute())


def chosen_of(names, runs):
    """Those of the runs with these names; all, without names."""
    known = {one.name: one for one in runs}
    for name in names or ():
        if name not in known:
            sys.exit(f"no reference run is called {name!r}; `python {HERE / 'catalogue.py'}` "
                     "lists them")
    return [known[name] for name in names] if names else list(runs)


def walk(work, chosen, jobs):
    """The outcome of each run, in their order; prints its line and what is wrong with it."""
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(work, chosen):
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
            for words in outcome.wrong:
                print(f"    {words}", flush=True)
    return outcomes


def total(outcomes):
    """Prints the last line; the exit status."""
    ran = [outcome for outcome in outcomes if not outcome.skipped]
    wrong = [outcome for outcome in ran if outcome.wrong]
    print(f"{len(ran) - len(wrong)} of {len(ran)} runs hold, "
          f"{sum(outcome.checked for outcome in ran)} checks, "
          f"{sum(outcome.seconds for outcome in ran):.0f} s")
    if not ran:
        return SKIPPED
    return 1 if wrong else 0
