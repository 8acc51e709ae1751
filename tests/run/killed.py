"""A program that is killed at a chosen moment of its dumps: killed.py COUNTS [POINTS].

Imports PyTorch once and forks for each moment, which is before or in the midst of one operation on
a file of the run's folder: the child makes failures that it catches, asks for dumps by SIGUSR1, so
many that old ones go, and ends by a failure. COUNTS receives a line for each child: its number, and
how many operations it counted. A moment that is no number of an operation is a time, in seconds
since the first dump began.
"""

import builtins
import os
import signal
import sys
import threading
import time

import torch

FOLDER = os.environ["PLIMSOLL_RUN"]
IS_FAKE = torch.__version__.endswith("fake")  # that of tests/agent/fakes
EVENTS = 3000


def allocate(size):
    return torch.take(size) if IS_FAKE else torch.empty(size, device="cuda")


def fail():
    """Requests more than there is."""
    allocate(1 << 50)


class Killer:
    """Stands before the functions that change files, and kills the process at one of them."""

    def __init__(self, moment):
        self.moment = moment
        self.count = 0
        self._files = set()

    def point(self):
        self.count += 1
        if self.count == self.moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def cover(self):
        for name in ("replace", "rename", "remove", "unlink", "mkdir", "rmdir", "link", "open",
                     "fsync", "write", "ftruncate"):
            setattr(os, name, self._before(name, getattr(os, name)))
        real = builtins.open

        def opened(path, mode="r", *args, **kwargs):
            is_ours = self._is_ours(path) and any(letter in mode for letter in "wax+")
            if is_ours:
                self.point()
            file = real(path, mode, *args, **kwargs)
            return Written(file, self) if is_ours else file

        builtins.open = opened

    def _is_ours(self, path):
        return isinstance(path, (str, bytes, os.PathLike)) and \
            os.fsdecode(path).startswith(FOLDER)

    def _before(self, name, real):
        def work(first, *args, **kwargs):
            is_ours = self._is_ours(first) or first in self._files
            if is_ours:
                self.point()
            if is_ours and name == "write":
                half = len(args[0]) // 2
                done = real(first, args[0][:half])
                self.point()
                return done + real(first, args[0][half:])
            answer = real(first, *args, **kwargs)
            if is_ours and name == "open":
                self._files.add(answer)
            return answer

        return work


class Written:
    """A file whose writes can be cut in half."""

    def __init__(self, file, killer):
        self._file = file
        self._killer = killer

    def write(self, data):
        half = len(data) // 2
        self._file.write(data[:half])
        if self._killer.count + 1 == self._killer.moment:
            self._file.flush()  # the half that is written is there
        self._killer.point()
        return self._file.write(data[half:]) + half

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._killer.point()
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)


def kill_later(seconds):
    def wait():
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def dumps():
    try:
        names = os.listdir(os.path.join(FOLDER, str(os.getpid())))
    except FileNotFoundError:
        return 0
    return max([int(name[:3]) for name in names
                if name.endswith(".json") and name[:3].isdigit()], default=0)


def ask():
    """A dump by signal, and a while for it to be there."""
    before, until = dumps(), time.monotonic() + 10
    os.kill(os.getpid(), signal.SIGUSR1)
    while dumps() == before and time.monotonic() < until:
        time.sleep(0.001)


def scenario(moment):
    killer = Killer(moment if isinstance(moment, int) else 0)
    kept = [allocate(1) for index in range(200)]
    for _ in range(0 if IS_FAKE else EVENTS // 3):
        allocate(1024)
    killer.cover()
    if isinstance(moment, float):
        kill_later(moment)
    for _ in range(4):
        try:
            fail()
        except torch.OutOfMemoryError:
            pass
    for _ in range(3):
        ask()
    return killer, kept


def numbered(word):
    return float(word) if "." in word else int(word)


def main():
    """The killer and the moment of a child; None in the parent."""
    for moment in [numbered(word) for word in sys.argv[2:]] or [0]:
        child = os.fork()
        if child == 0:
            return scenario(moment), moment
        os.waitpid(child, 0)
    return None


CHILD = main()
if CHILD is not None:
    import atexit

    (KILLER, KEPT), MOMENT = CHILD
    COUNTS = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def report():
        os.write(COUNTS, f"{os.getpid()} {MOMENT} {KILLER.count}\n".encode())

    atexit.register(report)
    fail()
