"""A program that does as its arguments say, and writes the folder of a run as a recorder would.

    run_program.py WORD...
"""

import json
import os
import signal
import sys
import time

MESSAGE = ("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.52 GiB "
           "of which 1.00 GiB is free. Including non-PyTorch memory, this process has 22.52 GiB "
           "memory in use. Of the allocated memory 22.00 GiB is allocated by PyTorch, and "
           "100.00 MiB is reserved by PyTorch but unallocated.")
GIB = 1 << 30


def write(name, document, pid=None):
    folder = os.path.join(os.environ["PLIMSOLL_RUN"], str(pid or os.getpid()))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(document, file)


def record(ended, dumps=(), pid=None, **members):
    """A process and its dumps: [(reason, members), …]."""
    write("process.json", {"schema": "run-process/1", "pid": pid or os.getpid(), "ended": ended,
                           "rank": 0, "world_size": 1, "torch": "2.11.0", "started": 1.5,
                           **members}, pid)
    for number, (reason, more) in enumerate(dumps, 1):
        write(f"{number:03d}-{reason}.json", {"schema": "run-dump/1", "number": number,
                                              "reason": reason, "time": 10.0 + number, **more}, pid)


FAILURE = {"ends_program": True, "error": MESSAGE, "where": "train.py:55 main", "step": 41,
           "stack": ["train.py:55 main", "train.py:90 <module>"],
           "failure": {"device": 0, "requested_bytes": 2 * GIB, "device_total_bytes": 24 * GIB,
                       "device_free_bytes": GIB, "allocated_bytes": 22 * GIB,
                       "reserved_bytes": 22 * GIB + (100 << 20)}}


def out_of_memory():
    record("oom", [("oom", FAILURE)])
    print(f"torch.OutOfMemoryError: {MESSAGE}", file=sys.stderr)
    sys.exit(1)


def silent():
    record("oom", [("oom", FAILURE)])
    sys.exit(1)


def unwatched():
    print(f"torch.OutOfMemoryError: {MESSAGE}", file=sys.stderr)
    sys.exit(1)


def caught():
    record("error", [("oom", {**FAILURE, "ends_program": False})], exception="KeyError: 'x'")
    print(f"torch.OutOfMemoryError: {MESSAGE}", file=sys.stderr)
    print("KeyError: 'x'", file=sys.stderr)
    sys.exit(1)


def ranks():
    for rank, moment in ((0, 30.0), (1, 20.0), (2, 40.0)):
        record("oom", [("oom", {**FAILURE, "time": moment})], pid=1_000_000_000 + rank, rank=rank,
               world_size=3)
    print(f"torch.OutOfMemoryError: {MESSAGE}", file=sys.stderr)
    sys.exit(1)


def stopped():
    record("stopped", [("stop", {"step": 120})], stopped_on="reserved>95%", exit_status=1)
    sys.exit(1)


def hostile():
    record("oom", [("oom", {**FAILURE, "where": "\x1b[31m\x07", "error": MESSAGE + "\x1b[2J"})],
           torch="\x1b]0;title\x07", warnings=["\x1b[31mred"])
    write("002-exit.json", ["not", "a", "dump"])
    sys.exit(1)


def hindered():
    for rank, lines in enumerate((["--limit has no effect"], ["--limit has no effect", "another"])):
        record("exit", pid=1_000_000_000 + rank, exit_status=0, warnings=lines)


def healthy():
    record("exit", [("exit", {})], exit_status=0)
    print("step 1")
    print("done", file=sys.stderr)


def no_gpu():
    print("RuntimeError: No CUDA GPUs are available", file=sys.stderr)
    sys.exit(1)


def environment():
    print(json.dumps({"environment": dict(os.environ), "path": sys.path,
                      "own": getattr(sys, "own_sitecustomize", None)}))


def terminals():
    print([stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)])


def echo():
    sys.stdout.write(sys.stdin.read())


def status():
    sys.exit(int(sys.argv[2]))


def kill():
    os.kill(os.getpid(), int(sys.argv[2]))


def wait():
    """Until a signal that it names on its way out."""
    def leave(number, _frame):
        print("got", signal.Signals(number).name, flush=True)
        sys.exit(42)

    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(one, leave)
    record("running")
    print("ready", flush=True)
    for _ in range(6000):
        time.sleep(0.01)


globals()[sys.argv[1]]()
