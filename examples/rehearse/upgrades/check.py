#!/usr/bin/env python3
"""check.py PLIMSOLL - finds real regressions between releases, with packages from PyPI.

Each program here is rehearsed with releases of a package until `--bisect` names the one with which
memory grew. Needs PyPI, and room for three PyTorch (6 GB); what is installed stays for the next
time, under ${XDG_CACHE_HOME:-~/.cache}/plimsoll.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TORCH_PYTHON = HERE.parent.parent.parent / "tools" / "torch-python"
MIB = 1 << 20

# program, GPU, package, range, the releases before and after, peaks in MiB, a line that grew
EXPECTED = (
    ("conv3d.py", "rtx4090", "torch", "2.8..2.9", "2.8.0", "2.9.0", 1029, 6136, "conv3d.py:17"),
    ("llama.py", "h100", "transformers", "4.37..4.38", "4.37.2", "4.38.0", 4301, 13340,
     "llama.py:"),
)
TOLERANCE = 0.05  # other releases of what the packages ask for


def check(plimsoll, python, row):
    program, gpu, package, releases, before, after, low, high, line = row
    command = [plimsoll, "rehearse", "--json", f"--gpu={gpu}", "--bisect", package, releases, "--",
               python, str(HERE / program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if not done.stdout:
        return f"it ended with {done.returncode}"
    answer = json.loads(done.stdout)
    found = (answer["last_good"], answer["first_grown"])
    if found != (before, after):
        return f"between {found[0]} and {found[1]}, not {before} and {after}"
    for side, expected in (("before", low), ("after", high)):
        peak = answer[side]["compared_bytes"] / MIB
        if abs(peak - expected) > TOLERANCE * expected:
            return f"{peak:.0f} MiB {side}, not {expected}"
    said = json.dumps(answer["says"])
    return None if line in said else f"{line} is not named"


def main():
    found = subprocess.run([TORCH_PYTHON], stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        return found.returncode
    failures = 0
    for row in EXPECTED:
        failure = check(sys.argv[1], found.stdout.strip(), row)
        failures += failure is not None
        print(f"{row[0]}: {failure or row[2] + ' ' + row[5] + ', as it should be'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
