#!/usr/bin/env python3
"""test_alloc_failure.py PLIMSOLL PRELOAD RECORDINGS CUDA_PROGRAM - no allocation's failure goes unnoticed.

Runs `plimsoll inspect --json`, `plimsoll diagnose`, `plimsoll diff`, `plimsoll replay`, `plimsoll tune`, `plimsoll query` and
`plimsoll export` to standard output on recordings, `plimsoll explain` on a log and `plimsoll rehearse` on a program of CUDA with the 1st, 2nd, 3rd, …
allocation failing (once alone, once with all that follow) until none is left to fail. Each such run must exit with 3 and say so in one line on stderr; one that
got by without the memory may succeed if its output is the complete one; none may leave a temporary
file. After the first 150 the steps grow, by chance, so that the time stays bounded and other runs try
others: PLIM_SEED repeats one.
Exit status 77: nothing to read.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

command, recordings = sys.argv[1], pathlib.Path(sys.argv[3])
# LD_PRELOAD is split at blanks and colons, so the library goes where there are none.
preload_folder = tempfile.TemporaryDirectory()
preload = shutil.copy(sys.argv[2], preload_folder.name)
# What Python would say of itself, without the time it takes.
python = pathlib.Path(preload_folder.name, "python")
answer = json.dumps({"torch": None, "objects": [sys.argv[4]]})
python.write_text(f"#!/bin/sh\necho '{answer}'\n")
python.chmod(0o700)
# A program of CUDA, and what our agent would have written of it.
result = json.dumps({"version": 1, "pid": 7, "torch": "2.11.0", "ended": "exit", "devices": [
    {"device": 0, "peak_phase": "forward", "phases": [{"phase": "forward"}], "steps": [{"step": 1}]}]})
program = pathlib.Path(preload_folder.name, "program.sh")
program.write_text(f"\"{sys.argv[4]}\" alloc 1\necho '{result}' > $PLIMSOLL_REHEARSAL/results/7.json\n")
EVERY_ONE_UP_TO = 150
THINNESS = 25  # then each 25th part further, on average
FAILURES_SHOWN = 10
seed = int(os.environ.get("PLIM_SEED") or random.SystemRandom().getrandbits(32))
chance = random.Random(seed)


def attempt(words, file, n, and_later):
    """(did it come to a failure, what is wrong or None, standard output)"""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "failed")
        temporary = pathlib.Path(folder, "tmp")
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary), "LD_PRELOAD": preload, "PLIM_FAIL_ALLOC": str(n),
                       "PLIM_FAIL_ALLOC_ALL": str(int(and_later)), "PLIM_FAIL_ALLOC_LOG": str(log)}
        try:
            done = subprocess.run([command, *words, str(file)], env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return True, "it hangs", b""
        failed = log.exists()
        left = [path.name for path in temporary.iterdir()]
    lines = done.stderr.decode(errors="replace").splitlines()
    if left:
        wrong = f"left behind: {left}"
    elif not failed:
        wrong = None if done.returncode == 0 else f"exit status {done.returncode}: {lines}"
    elif done.returncode < 0:
        wrong = f"killed by signal {-done.returncode}: {lines}"
    elif done.returncode == 0:
        wrong = None  # judged by its output
    elif done.returncode != 3:
        wrong = f"exit status {done.returncode}, not 3: {lines}"
    elif len(lines) != 1:
        wrong = f"{len(lines)} lines on stderr, not 1: {lines}"
    else:
        wrong = None
    return failed, wrong, done.stdout if done.returncode == 0 else None


def steps():
    n = 1
    while True:
        yield n
        n += 1 if n < EVERY_ONE_UP_TO else chance.randint(1, max(1, 2 * n // THINNESS))


def check(words, file, and_later, pool):
    """Yields what is wrong with the runs on one file."""
    complete = attempt(words, file, 2**40, False)
    if complete[1] is not None:
        yield f"{file.name}, nothing failing: {complete[1]}"
        return
    numbers = steps()
    tried = survived = 0
    more = True
    while more:
        batch = [next(numbers) for _ in range(16)]
        for n, (failed, wrong, output) in zip(batch, pool.map(
                lambda n: attempt(words, file, n, and_later), batch)):
            if not failed:
                more = False
                break
            tried += 1
            survived += output is not None
            if wrong is None and output is not None and output != complete[2]:
                wrong = "success is claimed, but the output is not the complete one"
            if wrong is not None:
                yield f"{file.name}, allocation {n}{' and later' if and_later else ''}: {wrong}"
    if tried == 0:
        yield f"{file.name}: no allocation was made to fail"
    print(f"{file.name}{', and later ones' if and_later else ''}: {tried} failures injected, "
          f"{survived} survived with complete output")


files = sorted(path for path in recordings.glob("**/*.pickle*") if path.is_file())
if not files:
    print(f"skipped: no recordings in {recordings}")
    sys.exit(77)
files.sort(key=lambda path: path.stat().st_size)
chosen = {files[0], files[len(files) // 2]} | {f for f in files if f.suffix in (".gz", ".zst")}
chosen = sorted(chosen, key=lambda path: path.stat().st_size)[:4]
jobs = [pathlib.Path(preload_folder.name, side) for side in ("before", "after")]  # of one rank each
for job in jobs:
    job.mkdir()
    shutil.copy(chosen[0], job / f"rank0-{chosen[0].name}")
runs = [(("inspect", "--json"), path) for path in chosen]
runs += [(words, recordings.parent / "messages" / "leak.log")
         for words in (("explain", "--json"), ("explain", "--all"))]
runs += [(("rehearse", *words, f"--python={python}", "--", "/bin/sh"), program)
         for words in (("--json",), ("--color=never",))]
runs += [(("diagnose", "--budget=0", *words), chosen[0])
         for words in (("--all", "--color=never"), ("--json",), ("--format=github",))]
runs += [(("diff", *words, str(chosen[0])), chosen[1])
         for words in (("--color=never",), ("--json", "--fail-on=peak>+9000%"))]
runs += [(("diff", "--color=never", str(jobs[0])), jobs[1])]
runs += [(("diagnose", "--budget=0", "--color=never", f"--log={recordings.parent / 'messages' / 'leak.log'}"), chosen[0])]
conf = "--conf=expandable_segments:True"
runs += [(words, chosen[0])
         for words in (("replay", "--quick", conf, "--color=never"), ("replay", "--quick", "--json"),
                       ("tune", "--only", conf, "--threads=1"),
                       ("tune", "--only", conf, "--threads=1", "--json"))]
runs += [(("export", "--to", format, "-o", "-"), chosen[0]) for format in ("folded", "speedscope", "pprof", "snapshot")]
runs += [(("export", "--to", format, "--lives=1KiB", "-o", "-"), chosen[0]) for format in ("perfetto", "chrome")]
statement = pathlib.Path(preload_folder.name, "statement.sql")
statement.write_text("SELECT frame, size(requested_bytes) FROM peak_by_stack")
runs += [(("query", f"--sql-file={statement}", words), chosen[0]) for words in ("--json", "--color=never")]
runs += [(("query", f"--sql-file={statement}", "--csv", "--document=/dev/null"), chosen[0]),
         (("diagnose", "--budget=0", "--color=never", "--document=/dev/null"), chosen[0]),
         (("inspect", "--json", "--page=/dev/null"), chosen[0])]
wrong_count = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for words, path in runs:
        for and_later in (False, True):
            for wrong in check(words, path, and_later, pool):
                wrong_count += 1
                if wrong_count <= FAILURES_SHOWN:
                    print(wrong)
print(f"{wrong_count} wrong; PLIM_SEED={seed} repeats this run")
sys.exit(1 if wrong_count else 0)
