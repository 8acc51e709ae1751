"""The folder of a run, where `plimsoll run` makes it too (docs/formats/run-folder.md)."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time

KEPT = 10  # runs, this one included: PLIM_RUN_KEPT_DEFAULT of plimsoll/run.h
_NAME = re.compile(r"\d{8}-\d{6}-.+-\d+\Z")


def parent() -> str:
    """The folder that runs lie in."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # a relative one is invalid by the XDG specification
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "plimsoll", "runs")


def _program() -> str:
    """A name for this process that is fit for a folder, as plim_run_name() makes them."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name in ("", "-", "-c", "-m"):
        name = "python"
    elif name in ("ipykernel_launcher.py", "colab_kernel_launcher.py"):
        name = "notebook"
    stem = name[:-3] if name.endswith(".py") else name
    return re.sub(r"[^A-Za-z0-9._]", "_", stem)[:39] or "python"


def name_new() -> str:
    """A path for a new run; make() makes the folder."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{_program()}-{os.getpid()}"
    return os.path.join(parent(), name)


def make(path: str) -> None:
    """Makes a run's folder, for this user alone, and removes the oldest of those beside it."""
    folder, name = os.path.split(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.makedirs(path, mode=0o700, exist_ok=True)
    if folder == parent():
        _rotate(folder, name)


def _rotate(folder: str, newest: str) -> None:
    """Keeps the newest KEPT, and those that are still written to (src/run/place.c does the same)."""
    runs = sorted(entry.name for entry in os.scandir(folder)
                  if _NAME.match(entry.name) and entry.name != newest and not entry.is_symlink())
    for name in runs[:max(len(runs) + 1 - KEPT, 0)]:
        _remove(os.path.join(folder, name))


def _remove(path: str) -> None:
    """Unless a launcher holds its lock, or one of its processes lives."""
    try:
        lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not any(name.isdigit() and os.path.exists(f"/proc/{name}") for name in os.listdir(path)):
            shutil.rmtree(path, ignore_errors=True)
    except OSError:  # it is held
        pass
    finally:
        os.close(lock)
