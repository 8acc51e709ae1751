"""Figures around the program: Python's collector, and the memory of the host."""

import contextlib
import gc
import os
import resource


@contextlib.contextmanager
def without_collector():
    """Within it, Python collects nothing.

    A snapshot is some hundred thousand objects, which would set the collector off again and again;
    it would run the program's finalizers, and free what the account is to show.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collector():
    """The state of Python's garbage collector."""
    return {
        "is_enabled": gc.isenabled(),
        "thresholds": list(gc.get_threshold()),
        "counts": list(gc.get_count()),
        "collections": [generation["collections"] for generation in gc.get_stats()],
        "frozen": gc.get_freeze_count(),
    }


def host():
    """Memory of this process, and what the machine has left for it."""
    return {"resident_bytes": _resident_bytes(), "available_bytes": available_bytes()}


def _lines(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _number(text):
    return int(text) if text.isdigit() else None


def _resident_bytes():
    words = " ".join(_lines("/proc/self/statm")).split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if len(words) > 1 else None


def available_bytes():
    """What this process can still take: of the machine, its control groups and its own limits."""
    found = [_of_machine(), *_of_groups(), _of_limit()]
    return min((count for count in found if count is not None), default=None)


def _of_machine():
    for line in _lines("/proc/meminfo"):
        words = line.split()
        if words[0] == "MemAvailable:":
            return int(words[1]) << 10
    return None


def _of_groups():
    """The room in each control group (version 2) that it is in, without its file cache."""
    for line in _lines("/proc/self/cgroup"):
        if line.startswith("0::"):
            path = line[3:].strip("/")
            while True:
                folder = os.path.join("/sys/fs/cgroup", path)
                limit = _number("".join(_lines(os.path.join(folder, "memory.max"))))
                used = _number("".join(_lines(os.path.join(folder, "memory.current"))))
                if limit is not None and used is not None:
                    yield max(limit - used + _file_cache(folder), 0)
                if not path:
                    return
                path = os.path.dirname(path)


def _file_cache(folder):
    for line in _lines(os.path.join(folder, "memory.stat")):
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _of_limit():
    """The room in its address space, where that is bounded."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    words = " ".join(_lines("/proc/self/statm")).split()
    if limit == resource.RLIM_INFINITY or not words:
        return None
    return max(limit - int(words[0]) * os.sysconf("SC_PAGE_SIZE"), 0)
