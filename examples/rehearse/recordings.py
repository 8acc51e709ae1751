"""Recordings for keeping: PyTorch's snapshots without this machine's paths, compressed.

Only the `filename` of frames changes. Frames are shared objects and stay shared.
"""

import gzip
import io
import json
import pathlib
import pickle
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = "/home/user/rehearse"
NEUTRAL = (PROGRAMS, "/opt/venv/", "/opt/plimsoll/", "/usr/", "/opt/conda/", "/pytorch/",
           "/__w/pytorch/")

# Where PyTorch, the other packages and Python's own modules lie; printed by the Python that ran.
ASK = """
import importlib.util, json, pathlib, sysconfig
folders = {sysconfig.get_path("purelib"): "/opt/venv/lib/python3/site-packages"}
for name in ("torch", "transformers"):
    found = importlib.util.find_spec(name)
    if found:
        home = pathlib.Path(found.origin).parent.parent
        folders[str(home)] = "/opt/venv/lib/python3/site-packages"
folders[sysconfig.get_path("stdlib")] = "/usr/lib/python3"
print(json.dumps(list(folders.items())))
"""


class Plain(pickle.Unpickler):
    """Snapshots are made of plain values; anything else is refused."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"a snapshot has no use for {module}.{name}")


def rules(python, plimsoll):
    """(prefix, replacement) pairs, the longest first."""
    answer = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True)
    pairs = json.loads(answer.stdout)
    pairs.append((str(HERE), PROGRAMS))
    pairs.append((str(pathlib.Path(plimsoll).resolve().parent), "/opt/plimsoll"))
    return sorted(pairs, key=lambda pair: -len(pair[0]))


# What torch.compile writes, in the folder of the run.
COMPILED = re.compile(r"^.*/plimsoll-rehearsal-[^/]*/inductor/")


def rename(filename, pairs):
    filename = COMPILED.sub("/usr/src/torchinductor/", filename)
    for prefix, replacement in pairs:
        if filename.startswith(prefix):
            return replacement + filename[len(prefix):]
    return filename


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


def neutralise(snapshot, pairs):
    """Rename in place. Raises ValueError naming the paths that no rule covers."""
    left = set()
    for frame in frames_of(snapshot):
        frame["filename"] = rename(frame["filename"], pairs)
        if frame["filename"].startswith("/") and not frame["filename"].startswith(NEUTRAL):
            left.add(frame["filename"])
    if left:
        raise ValueError(f"paths of this machine would remain: {', '.join(sorted(left)[:5])}")


def compress(data):
    """(bytes, suffix): zstd where its command is installed, else gzip."""
    if shutil.which("zstd"):
        done = subprocess.run(["zstd", "-19", "-q", "-c"], input=data, capture_output=True,
                              check=True)
        return done.stdout, ".zst"
    return gzip.compress(data, compresslevel=9, mtime=0), ".gz"


def keep(recording, folder, name, pairs):
    """Write one recording of a rehearsal into `folder`; returns its path."""
    snapshot = Plain(io.BytesIO(pathlib.Path(recording).read_bytes())).load()
    neutralise(snapshot, pairs)
    data, suffix = compress(pickle.dumps(snapshot, protocol=4))
    path = pathlib.Path(folder) / f"{name}.pickle{suffix}"
    path.write_bytes(data)
    return path
