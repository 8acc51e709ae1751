"""Workers of plimsoll.map() on this machine: threads, each of which waits for a process.

The functions of this package run the command, which is a process already. Another function gets a
Python of its own for each thread, so that cores are used and a file that kills its process costs that
file alone.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any, Callable, List, Mapping, Optional

from plimsoll import _child
from plimsoll._map import Future, Result, work
from plimsoll.errors import PlimsollError, UsageError


class Lost(PlimsollError):
    """The process that worked on a file ended before it had an answer."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_ours(function: Any) -> bool:
    """Whether it is a function of this package, perhaps with arguments set (functools.partial)."""
    function = getattr(function, "func", function)
    return getattr(function, "__module__", None) == "plimsoll._functions"


class Threads:
    """Runs a function in threads of this process."""

    def __init__(self, function: Callable[..., Any], count: int,
                 options: Mapping[str, Any]) -> None:
        self.count = count
        self._function = function
        self._options = options
        self._stop = threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor(
            count, "plimsoll", _child.stopping.set, (self._stop,))

    def submit(self, path: Any) -> Future[Result[Any]]:
        return self._pool.submit(self._work, path)

    def close(self) -> None:
        self._stop.set()  # commands under way end
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, path: Any) -> Result[Any]:
        return work(self._function, path, self._options)


class Processes(Threads):
    """Runs a function of the user's in a process for each thread."""

    def __init__(self, function: Callable[..., Any], count: int,
                 options: Mapping[str, Any]) -> None:
        try:
            pickle.dumps((function, dict(options)))
        except Exception as error:
            raise UsageError("map() runs this function in processes of their own, to which it cannot be "
                             f"sent ({error}); a function of a module can, or give threads=True"
                             ) from None
        super().__init__(function, count, options)
        self._lock = threading.Lock()
        self._helpers: List[_Helper] = []
        self._mine = threading.local()

    def close(self) -> None:
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for one in self._helpers:
                one.end()
        super().close()

    def _work(self, path: Any) -> Result[Any]:
        helper: Optional[_Helper] = getattr(self._mine, "helper", None)
        try:
            if helper is None:
                helper = self._start()
            return helper.ask(path)
        except PlimsollError as error:
            self._mine.helper = None
            return Result(path, None, error)

    def _start(self) -> _Helper:
        with self._lock:
            if self._stop.is_set():
                raise Lost("the map was closed")
            helper = _Helper(self._function, self._options)
            self._helpers = [one for one in self._helpers if one.is_alive()]
            self._helpers.append(helper)
        helper.wait()
        self._mine.helper = helper
        return helper


class _Helper:
    """A Python of its own that works on one file after the other."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")  # a fork of a process with CUDA or threads hangs
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, function, options), daemon=True)
        self._process.start()
        theirs.close()

    def wait(self) -> None:
        """Until it has imported the function."""
        try:
            self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise UsageError("map() cannot start processes for this function: a script calls it under "
                             "`if __name__ == \"__main__\":`, or gives threads=True") from None

    def ask(self, path: Any) -> Result[Any]:
        try:
            self._pipe.send(path)
            found: Result[Any] = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise Lost(f"its process ended {_ended(self._process.exitcode)}", str(path)) from None
        return found

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        """On request: what it runs ends with it."""
        self._process.terminate()


def _ended(status: Optional[int]) -> str:
    if status is not None and status < 0:
        try:
            return f"by {signal.Signals(-status).name}"
        except ValueError:
            return f"by signal {-status}"
    return f"with exit status {status}"


def _serve(pipe: Connection, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """The life of a helper: an interrupt at the terminal is the parent's to answer."""
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends a command under way
    _child.stopping.set(threading.Event())
    pipe.send(None)
    while True:
        try:
            path = pipe.recv()
        except (EOFError, OSError):
            return
        found = work(function, path, options)
        try:
            pickle.dumps(found)
        except Exception as error:
            found = Result(path, None, Lost(f"its answer cannot be sent: {error}", str(path)))
        pipe.send(found)
