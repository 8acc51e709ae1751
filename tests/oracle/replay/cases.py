"""cases.py - oracle scripts recorded with our allocator, and what PyTorch's library made of them.

A script is played with all its history kept; the snapshot is what replay is given. What the same
script came to under other settings stands in the golden records (../allocator/FORMAT.md).
"""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "allocator"))

import records  # noqa: E402

# Places in a line of statistics, behind "stats D" (text_stats.c).
RESERVED, RETRIES, OOMS = 24, 29, 30

# Operations under which a script is another program, or another machine, than its events say.
CHANGED_SETTINGS = {"conf"}
LIMITS = {"fraction", "used"}
FAILURES = {"fail"}
CALLBACKS = {"callback"}
UNCACHED = {"caching"}


@dataclasses.dataclass
class Totals:
    """What a script came to on one device."""
    peak_reserved: int
    retries: int
    ooms: int


def play(runner, script, setting, snapshot, is_bare=False):
    """Plays a script file under a setting and saves what happened."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PYTORCH_", "PLIMSOLL_"))}
    environment["PYTORCH_CUDA_ALLOC_CONF"] = records.SETTINGS[setting]
    subprocess.run([runner, script, snapshot] + ["bare"] * is_bare, check=True, env=environment, timeout=300,
                   stdout=subprocess.DEVNULL)


def look(tool, files, confs=(), capacity=None):
    """What replay says: {file: [one dict a device]}."""
    arguments = ["--capacity", f"{capacity}B"] if capacity is not None else []
    for conf in confs:
        arguments += ["--conf", conf]
    done = subprocess.run([tool, *arguments, *map(str, files)], check=True, capture_output=True,
                          text=True, timeout=600)
    told = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        told.setdefault(row["file"], []).append(row)
    return told


def words(text):
    return {line.split()[0] for line in records.operations(text)}


def devices(text):
    """[(bytes of a device, bytes others hold)]"""
    given = [[int(word, 0) for word in line.split()[1:]]
             for line in text.splitlines() if line.startswith("%device")]
    return [(row + [0])[:2] for row in given] or [[8 << 30, 0]]


def totals(record):
    """What PyTorch came to: {device: Totals}, of the lines a record ends in."""
    found = {}
    for line in record.splitlines():
        match = re.match(r"stats (\d+) (.*)", line)
        if match:
            fields = match[2].split()
            found[int(match[1])] = Totals(int(fields[RESERVED].split(",")[1]),
                                          int(fields[RETRIES]), int(fields[OOMS]))
    return found
