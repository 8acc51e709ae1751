"""Renames the paths of this machine in a snapshot, and refuses to miss one.

Only the `filename` of frames changes; everything else stays as PyTorch wrote it. Frames
and stacks are shared objects, and stay shared: each is visited once, by identity.
"""

import re
import sys
import sysconfig

from recorder import environment

PROGRAMS = "/home/user/gpt"
VENV = "/opt/venv/lib/python3/site-packages"
STDLIB = "/usr/lib/python3"

# The interpreter's own sources, wherever they were built, in C++ stacks.
INTERPRETER = re.compile(r"^.*/(Python-\d[^/]*/)")

# What may remain: ours, the interpreter's, and where PyTorch and the C library were built.
NEUTRAL = (PROGRAMS, VENV, STDLIB, "/usr/", "/opt/conda/", "/pytorch/")


def rules(program_folder):
    """(prefix, replacement) pairs, most specific first."""
    return [
        (str(program_folder), PROGRAMS),
        (sysconfig.get_path("platlib"), VENV),
        (sys.prefix, "/opt/venv"),
        (str(environment.AGENT), "/usr/lib/plimsoll/rehearse/agent"),
        (sysconfig.get_path("stdlib"), STDLIB),
    ]


def rename(filename, pairs):
    for prefix, replacement in pairs:
        if filename.startswith(prefix):
            return replacement + filename[len(prefix):]
    return INTERPRETER.sub(r"/usr/src/\1", filename)


def frames_of(snapshot):
    """Every frame once, however often it is shared."""
    seen = set()
    holders = [entry for trace in snapshot["device_traces"] for entry in trace]
    for segment in snapshot["segments"]:
        holders.append(segment)
        holders.extend(segment["blocks"])
    for holder in holders:
        for frame in holder.get("frames", ()):
            if id(frame) not in seen:
                seen.add(id(frame))
                yield frame


def neutralise(snapshot, program_folder):
    """Rename in place. Raises ValueError naming the paths that no rule covers."""
    pairs = rules(program_folder)
    renamed = {}
    for frame in frames_of(snapshot):
        old = frame["filename"]
        frame["filename"] = renamed.setdefault(old, rename(old, pairs))
    left = {new for new in renamed.values() if new.startswith("/") and not new.startswith(NEUTRAL)}
    if left:
        raise ValueError(f"paths of this machine would remain: {', '.join(sorted(left))}")
