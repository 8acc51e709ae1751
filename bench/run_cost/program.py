"""The programs of run_cost: each does one thing that costs, and writes what it took as JSON.

    program.py WHAT FILE [NUMBER]

They run as they are, under PyTorch's own recorder (environment RUN_COST_RECORDER=events) and under
`plimsoll run`.
"""

import glob
import json
import os
import signal
import sys
import time

import torch

MIB = 1 << 20
LIVE = 2000  # tensors in a list
DEADLINE = 300


def record_by_itself():
    """As a user would, with the stacks that the recorder of `plimsoll run` takes."""
    events = int(os.environ.get("RUN_COST_RECORDER", "0"))
    if events:
        torch.cuda.memory._record_memory_history(
            enabled="all", context="alloc", stacks="python", max_entries=events)


def pair():
    torch.empty(2048, device="cuda")


def deeper(calls):
    """A stack as programs have it."""
    return pair() if calls == 0 else deeper(calls - 1)


def pairs(blocks):
    """Nanoseconds of processor time for a pair, of each block of 5,000."""
    found = []
    for _ in range(blocks):
        began = time.thread_time_ns()
        for _ in range(5000):
            pair()
        found.append((time.thread_time_ns() - began) / 5000)
    return {"pair_ns": found}


def start(_number):
    """Seconds from the launch, which the parent notes, to the first tensor on the device."""
    return {"seconds": time.monotonic() - float(os.environ["RUN_COST_BEGAN"]),
            "cpu_seconds": time.process_time()}


def idle(seconds):
    """Processor time of a process that waits."""
    kept = [torch.empty(1024, device="cuda") for _ in range(100)]
    time.sleep(1)
    began, cpu = time.monotonic(), time.process_time()
    time.sleep(seconds)
    wall = time.monotonic() - began
    return {"cpu_ms_per_second": 1000 * (time.process_time() - cpu) / wall, "kept": len(kept)}


class Memory:
    """Most resident memory since the beginning, less what was resident then."""

    def __init__(self):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        self._before = self._read("VmRSS")

    @staticmethod
    def _read(name):
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

    def grown(self):
        return self._read("VmHWM") - self._before


def fill(events):
    """A ring of so many events, of stacks that differ, and what a program holds besides."""
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64, device="cuda") for _ in range(50)])
    kept = [torch.empty(256 + index, device="cuda") for index in range(LIVE)]
    for index in range(events // 3 + 1):
        deeper(index % 40)
    return model, kept


def dump(events):
    """A dump at SIGUSR1, or PyTorch's own where no recorder runs."""
    folder = os.environ.get("PLIMSOLL_RUN")
    if not folder:  # its imports are not what is measured
        torch.cuda.memory._dump_snapshot(sys.argv[2] + ".pickle")
    held = fill(events)
    memory, began, cpu = Memory(), time.monotonic(), time.process_time()
    if folder:
        os.kill(os.getpid(), signal.SIGUSR1)
        pattern = os.path.join(glob.escape(folder), str(os.getpid()), "*-signal.json")
        while not glob.glob(pattern) and time.monotonic() - began < DEADLINE:
            time.sleep(0.002)
        path = sorted(glob.glob(pattern))[0]
    else:
        path = sys.argv[2] + ".pickle"
        torch.cuda.memory._dump_snapshot(path)
    taken = {"seconds": time.monotonic() - began, "cpu_seconds": time.process_time() - cpu,
             "grown_bytes": memory.grown(), "live": len(held[1])}
    if folder:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        taken["says_seconds"] = document["seconds"]
        for name in ("snapshot", "holders"):
            if document.get(name):
                taken[f"{name}_bytes"] = os.path.getsize(
                    os.path.join(os.path.dirname(path), document[name]))
    else:
        taken["snapshot_bytes"] = os.path.getsize(path)
        os.remove(path)
    return taken


def caught(events):
    """Milliseconds of failures that the program handles, on one line: of the clock, and of work."""
    held = fill(events)
    walls, works = [], []

    def fail():
        began, cpu = time.perf_counter(), time.process_time()
        try:
            torch.empty(1 << 50, device="cuda")
        except torch.OutOfMemoryError:
            pass
        walls.append(1000 * (time.perf_counter() - began))
        works.append(1000 * (time.process_time() - cpu))

    for _ in range(6):
        fail()
    return {"caught_ms": walls, "caught_cpu_ms": works, "live": len(held[1])}


def main():
    what, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.cuda.init()
    record_by_itself()
    torch.empty(1, device="cuda")
    taken = {"pairs": pairs, "start": start, "idle": idle, "dump": dump,
             "caught": caught}[what](number)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(taken, file)


main()
