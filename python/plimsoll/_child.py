"""A process of the command: what goes in, what comes out, and its end if the caller is interrupted.

One loop moves everything: what the command reads, and what it writes on four pipes, so that no full
pipe can stop the other side. There are no threads, so an interrupt comes out of the loop.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import os
import selectors
import signal
import subprocess
import sys
import threading
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Union

PIECE = 1 << 18  # bytes or characters at once
PIPE_MOST = 1 << 20  # bytes that a pipe may hold: fs.pipe-max-size, pipe(7)
TAIL = 1 << 18  # of standard error, which a program that is rehearsed may fill
GRACE = 5.0  # seconds from the request to end until it is forced
LOOK = 0.25  # seconds without output after which to look whether the command lives

Input = Union[str, bytes, None]
Take = Callable[[bytes], object]


# Set in the threads of plimsoll.map(): an event that ends commands under way. Nothing shows progress there.
stopping: contextvars.ContextVar[Optional[threading.Event]] = contextvars.ContextVar(
    "stopping", default=None)


class Stopped(Exception):
    """The event came."""


class Tail:
    """The last bytes of a stream, beginning with a whole line where some were dropped."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def take(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * TAIL:
            del self._kept[:-TAIL]
            del self._kept[: self._kept.find(b"\n") + 1]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


class Child:
    """Runs a command once. Afterwards its outputs are here.

    command   makes the words from the path to which the command writes its page
    progress  takes each piece of what is written to PLIMSOLL_PROGRESS_FD
    """

    def __init__(self, command: Callable[[str], Sequence[str]], progress: Take) -> None:
        self.output = io.BytesIO()
        self.page = io.BytesIO()
        self.errors = Tail()
        self.status = 0
        self._command = command
        self._progress = progress
        self._takers: Dict[int, Take] = {}
        self._ours: List[int] = []  # descriptors to close
        self._selector = selectors.DefaultSelector()
        self._process: Optional[subprocess.Popen[bytes]] = None

    def run(self, text: Input) -> None:
        """Feeds the text, takes all outputs and waits; an exception ends the process first.

        errors  OSError: it cannot be started
        """
        try:
            process = self._start()
            self._feed(process, text)
            self._move(process)
            self.status = process.wait()
        finally:
            self._close()  # before the end: what it writes then fails, so that nothing holds it up
            if self._process is not None:
                _end(self._process)

    def _start(self) -> subprocess.Popen[bytes]:
        page, progress = self._pipe(self.page.write), self._pipe(self._progress)
        try:
            with _uninterrupted():
                process = self._process = subprocess.Popen(
                    self._command(f"/dev/fd/{page}"), pass_fds=(page, progress), bufsize=0,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env={**os.environ, "PLIMSOLL_PROGRESS_FD": str(progress)})
        finally:
            os.close(page)
            os.close(progress)
        assert process.stdout is not None and process.stderr is not None
        self._watch(process.stdout.fileno(), self.output.write)
        self._watch(process.stderr.fileno(), self.errors.take)
        return process

    # ---- pipes --------------------------------------------------------------------------------

    def _pipe(self, take: Take) -> int:
        """A pipe whose output goes to `take`; returns the end to write to."""
        reader, writer = os.pipe()
        self._ours.append(reader)
        self._watch(reader, take)
        return writer

    def _watch(self, descriptor: int, take: Take) -> None:
        os.set_blocking(descriptor, False)
        self._takers[descriptor] = take
        self._selector.register(descriptor, selectors.EVENT_READ)

    def _feed(self, process: subprocess.Popen[bytes], text: Input) -> None:
        assert process.stdin is not None
        descriptor = process.stdin.fileno()
        os.set_blocking(descriptor, False)
        writing = _written(descriptor, _pieces(text))
        self._selector.register(descriptor, selectors.EVENT_WRITE, (process.stdin, writing))

    def _move(self, process: subprocess.Popen[bytes]) -> None:
        """Until the command has closed its outputs, or has ended: then others may hold a pipe."""
        stop = stopping.get()
        while self._takers and process.poll() is None:
            if stop is not None and stop.is_set():
                raise Stopped
            for key, _events in self._selector.select(LOOK):
                if key.fd in self._takers:
                    self._read(key.fd)
                    continue
                stream, writing = key.data
                if next(writing, None) is None:
                    self._selector.unregister(stream)
                    stream.close()
        for descriptor in list(self._takers):
            taken = 0
            while taken <= PIPE_MOST and (count := self._read(descriptor)):
                taken += count

    def _read(self, descriptor: int) -> int:
        """Hands a piece on; the number of its bytes, 0 where nothing can be read."""
        try:
            data = os.read(descriptor, PIECE)
        except BlockingIOError:
            return 0
        if data:
            self._takers[descriptor](data)
        else:
            self._selector.unregister(descriptor)
            del self._takers[descriptor]
        return len(data)

    def _close(self) -> None:
        self._takers.clear()
        self._selector.close()
        while self._ours:
            os.close(self._ours.pop())
        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr) if process else ():
            if stream is not None:
                stream.close()


def _pieces(text: Input) -> Iterator[memoryview]:
    """No copy of the whole is made."""
    if isinstance(text, str):
        for start in range(0, len(text), PIECE):
            yield memoryview(_encoded(text[start:start + PIECE]))
    elif text is not None:
        whole = memoryview(text).cast("B")
        for start in range(0, len(whole), PIECE):
            yield whole[start:start + PIECE]


def _encoded(piece: str) -> bytes:
    try:
        return piece.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, of a text that was cut
        return piece.encode("utf-8", "replace")


def _written(descriptor: int, pieces: Iterator[memoryview]) -> Iterator[bool]:
    """Writes a part whenever it is resumed; ends with the last, or when it is read no more."""
    for piece in pieces:
        while piece:
            try:
                piece = piece[os.write(descriptor, piece):]
            except BlockingIOError:
                pass
            except BrokenPipeError:  # the exit status says why
                return
            yield True


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C back until the block is through: a process that is half made would be lost."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: List[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        handler(came[0], sys._getframe())


# ---- the end of it ----------------------------------------------------------------------------


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the command and all that it started, if it lives: on request, after a while by force."""
    if process.poll() is not None:
        return
    try:
        process.terminate()  # it passes that on to a program that it runs
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:  # a second interrupt does not wait
        if process.poll() is None:
            for pid in (process.pid, *_descendants(process.pid)):
                _kill(pid)
            process.wait()


def _descendants(pid: int) -> List[int]:
    """The processes below one that lives."""
    below: Dict[int, List[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        parent = _parent(name)
        if parent is not None:
            below.setdefault(parent, []).append(int(name))
    found: List[int] = []
    waiting = [pid]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _parent(name: str) -> Optional[int]:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):  # it has ended
        return None


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
