"""--stop-on: ends the program as Ctrl-C would, once a condition holds.

The main thread gets SIGINT, so that `finally` blocks and `except KeyboardInterrupt` run, as the
program's author meant for a run that is broken off: checkpoints are written, children joined. A
program that has not ended GRACE_SECONDS later gets SIGTERM, once. Where SIGINT is ignored (shells
start jobs in the background so) the exception is raised without the signal.
"""

import ctypes
import os
import signal
import sys
import threading
import time

from plimsoll_agent import places

LEAVE_SECONDS = 1.0  # that the main thread may stay in our own frames; they take microseconds
GRACE_SECONDS = 60  # a checkpoint takes tens of seconds; schedulers wait 30 after their SIGTERM


class Condition:
    """One of --stop-on.

    text   as it was given: "leak", "reserved>95%"
    share  of the device that may be reserved; None: leak
    """

    def __init__(self, text):
        """Raises ValueError where it cannot be read."""
        self.text = text
        self.share = None
        if text != "leak":
            if not (text.startswith("reserved>") and text.endswith("%")):
                raise ValueError(f"{text} is neither leak nor reserved>95%")
            self.share = float(text[len("reserved>"):-1]) / 100

    def holds(self, device, capacity):
        """Of reserved memory; a leak is seen by Growth."""
        return self.share is not None and device.reserved > self.share * capacity


def read(texts, journal):
    """The conditions; those that cannot be read are warned of."""
    conditions = []
    for text in texts:
        try:
            conditions.append(Condition(text))
        except ValueError as error:
            journal.note(f"--stop-on: {error}")
    return conditions


class Stop:
    """The end of the program, once it has been requested."""

    def __init__(self):
        self._until = None  # when its grace ends

    def begin(self):
        """Interrupts the program."""
        self._until = time.monotonic() + GRACE_SECONDS
        main = threading.main_thread().ident
        _wait_until_it_leaves(main)
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(main), ctypes.py_object(KeyboardInterrupt))
        else:
            signal.pthread_kill(main, signal.SIGINT)

    def look(self):
        """Called while the program has not ended."""
        if self._until is not None and time.monotonic() >= self._until:
            self._until = None
            os.kill(os.getpid(), signal.SIGTERM)


def _wait_until_it_leaves(thread):
    """Another thread's interrupt is not to be raised within our frames, such as a step's."""
    until = time.monotonic() + LEAVE_SECONDS
    while _is_in_us(sys._current_frames().get(thread)) and time.monotonic() < until:
        time.sleep(0.001)


def _is_in_us(frame):
    while frame is not None:
        if places.is_own(frame.f_code):
            return True
        frame = frame.f_back
    return False
