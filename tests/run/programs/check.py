#!/usr/bin/env python3
"""check.py PLIMSOLL [NAME...] - programs of others, rehearsed alone and under `plimsoll run`.

What they print and how they end has to be the same. Needs PyPI for tools/programs-python, which
makes their environment once. Exit status: 0 all are the same, 1 one is not, 77 no environment.
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
OTHERS = ROOT / "examples" / "rehearse" / "others" / "scripts"
SECONDS_MAX = 300
SKIPPED = 77
LINES_SHOWN = 12


@dataclasses.dataclass
class Program:
    """One program of others, and what must hold of its run.

    words      after `python`; FOLDER is a fresh one, the same in both runs but empty
    devices    of the machine
    status     its exit status
    processes  that used CUDA, or None where that may vary
    ends       how they ended, sorted: "exit", "oom", "error"; None: each by "exit"
    is_sorted  its processes print in no order
    """

    words: list
    devices: int = 1
    status: int = 0
    processes: int = 1
    ends: list = None
    is_sorted: bool = False


TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
LAUNCH = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes=2",
          "--num_machines=1", "--mixed_precision=bf16", "--dynamo_backend=no"]
PROGRAMS = {
    "trainer": Program([HERE / "trainer.py"]),
    "accelerate launch": Program([*LAUNCH, OTHERS / "accelerate_train.py"], 2, processes=2,
                                 is_sorted=True),
    "accelerate halves": Program([HERE / "halving.py"]),
    "torchrun": Program([*TORCHRUN, HERE / "ranks.py"], 2, processes=2, is_sorted=True),
    "torchrun, a rank runs out": Program([*TORCHRUN, HERE / "ranks.py", "runs-out"], 2, 1,
                                         processes=2, ends=["oom", "signal"], is_sorted=True),
    "torchrun, restarted": Program(
        [*TORCHRUN, "--max-restarts=1", HERE / "ranks.py", "again", "FOLDER/failed"], 2,
        processes=4, ends=["exit", "exit", "oom", "signal"], is_sorted=True),
    "lightning": Program([OTHERS / "lightning_train.py"]),
    "lightning under slurm": Program([HERE / "lightning_requeued.py"]),
    "torch.compile": Program([HERE / "compiled.py"]),
    "pytest": Program(["-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "test_of_others.py"],
                      status=1, ends=["error"]),
}
# Values are not computed without a GPU, and clocks differ.
VARYING = (
    (re.compile(r"^([VIWE])\d{4} \d\d:\d\d:\d\d\.\d+ \d+", re.M), r"\1"),
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"^.*(it/s|s/it|\?it|\d%\|).*$\n?", re.M), ""),  # progress bars
    (re.compile(r"'\w*(loss|norm|runtime|per_second)': '?[-\w.+]+'?"), "value"),
    (re.compile(r"\b(in )?\d+(\.\d+)?s\b|0x[0-9a-f]+"), "value"),
    (re.compile(r"\b(tensor\()?(nan|inf|-?\d+\.\d+(e[-+]?\d+)?)\b"), "value"),
    (re.compile(r"\b(Process|pid:?|PID|process) \d+"), "process"),
    (re.compile(r"^.*(capacity of|memory in use).*$\n?", re.M), ""),  # of all at that moment
    (re.compile(r"\d{4}-\d\d-\d\d[_ T]\d\d:\d\d:\d\d([.,]\d+)?"), "time"),
    (re.compile(r"(pid|error_file|exitcode|host|rank)\b *:.*"), r"\1"),
    (re.compile(r"\[rank\d\]:?|(local_)?rank: \d|\(local_rank\w*"), "rank"),
    (re.compile(r"[ \t]+$", re.M), ""),
)


def even(text, program):
    """A program's output without what differs between two of its runs."""
    text = re.sub(r"[^\n]*\r", "", text)
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    lines = [line for line in text.splitlines() if line.strip()]
    return sorted(lines) if program.is_sorted else lines


class Run:
    """One of a program's two.

    document  the process and device part of what plimsoll says
    """

    def __init__(self, plimsoll, python, program, command, options):
        with tempfile.TemporaryDirectory(prefix="plimsoll program ") as folder:
            words = [str(word).replace("FOLDER", folder) for word in program.words]
            began = time.monotonic()
            done = subprocess.run(
                [plimsoll, command, "--json", "--gpu=h100", f"--devices={program.devices}",
                 *options, "--", python, *words], cwd=folder, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, errors="replace", timeout=SECONDS_MAX,
                check=False, env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
                                  "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
                                  "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"})
            self.seconds = time.monotonic() - began
            self.status = done.returncode
            self.lines = even(done.stderr.replace(folder, "FOLDER"), program)
            self.out = done.stdout
            self.text = done.stderr


def processes(folder):
    """What the recorder wrote of each process."""
    return [json.loads(file.read_text(encoding="utf-8"))
            for file in sorted(pathlib.Path(folder).glob("*/process.json"))]


def check(plimsoll, python, program):
    """Complaints, and the seconds of both runs."""
    found = []
    alone = Run(plimsoll, python, program, "rehearse", [])
    status = json.loads(alone.out)["exit_status"] if alone.out else alone.status
    with tempfile.TemporaryDirectory(prefix="plimsoll run ") as folder:
        under = Run(plimsoll, python, program, "run", [f"--output={folder}/run"])
        recorded = processes(f"{folder}/run")
    if (status, under.status) != (program.status, program.status):
        found.append(f"exit status {status} alone and {under.status} under run, not "
                     f"{program.status}")
    if alone.lines != under.lines:
        found += [f"alone: {line}" for line in alone.lines if line not in under.lines]
        found += [f"under: {line}" for line in under.lines if line not in alone.lines]
        found = found[:LINES_SHOWN] or ["its lines are in another order"]
    if len(recorded) != program.processes:
        found.append(f"{len(recorded)} processes were recorded, not {program.processes}")
    ends = sorted(process["ended"] for process in recorded)
    if ends != (program.ends or ["exit"] * program.processes):
        found.append(f"they ended by {', '.join(ends)}")
    found += [line for process in recorded for line in process["warnings"] if "could not" in line]
    return found, (alone.seconds, under.seconds)


def main():
    plimsoll, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(PROGRAMS)
    had = subprocess.run([ROOT / "tools" / "programs-python"], stdout=subprocess.PIPE, text=True,
                         check=False)
    if had.returncode != 0:
        return had.returncode
    failed = 0
    if not sys.argv[2:]:
        own = subprocess.run([sys.executable, HERE.parent / "test_programs.py", plimsoll],
                             env={**os.environ, "PLIM_TORCH_PYTHON": had.stdout.strip()},
                             check=False)
        failed += own.returncode not in (0, SKIPPED)
    for name in names:
        found, (alone, under) = check(plimsoll, had.stdout.strip(), PROGRAMS[name])
        failed += bool(found)
        print(f"{name:26} {alone:4.0f} s alone, {under:4.0f} s under run: "
              f"{'not the same' if found else 'the same'}", flush=True)
        for line in found:
            print(f"  {line[:300]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
