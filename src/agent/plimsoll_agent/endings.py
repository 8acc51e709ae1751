"""Sees the process end, in each of the ways that Python lets one see.

A normal end and an uncaught exception come by atexit, which also finds the exception: Python
leaves it in sys.last_value. os._exit, which multiprocessing's children use, skips atexit, so it
is wrapped; sys.exit is, to know the status. SIGTERM gets a handler where the program has none,
which ends the process as the signal would have.
"""

import atexit
import logging
import os
import signal
import sys
import threading
import time

from plimsoll_agent.results import Ending

CHILDREN_SECONDS = 2


def describe(error):
    """The last line of an exception's traceback."""
    name = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        name = f"{type(error).__module__}.{name}"
    lines = str(error).splitlines()
    return f"{name}: {lines[0]}" if lines else name


def status_of(code):
    """The exit status that sys.exit(code) leads to."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


class Endings:
    """Writes the results when the process ends."""

    def __init__(self, ooms, results, journal):
        self._ooms = ooms
        self._results = results
        self._journal = journal
        self._exit_now = os._exit
        self._exit = sys.exit
        self._status = 0
        self._cause = None  # handled when sys.exit was called
        self.before_end = None  # called once the end is certain

    def watch(self):
        """From now on."""
        # of all atexit functions the first one registered is called last
        atexit.register(self._journal.guard("write results at exit")(self._at_exit))
        os._exit = self._watched_exit_now
        sys.exit = self._watched_exit
        self._journal.attempt("watch for SIGTERM", self._watch_sigterm)
        hook = threading.excepthook
        note = self._journal.guard("note a thread's exception")(self._note_thread)

        def excepthook(args, /):
            note(args)
            hook(args)

        threading.excepthook = excepthook

    def end(self, ending):
        """Writes the results of the end."""
        if self.before_end is not None:
            self._journal.attempt("close its books", self.before_end)
        self._journal.attempt("write results", self._results.write, ending)

    def stop(self, ending=None):
        """Ends the process, as one that is done: children too, without the program's rest.

        ending  None: the steps that were requested are done
        """
        self.end(ending or Ending("steps"))
        for stream in (sys.stdout, sys.stderr):
            self._journal.attempt("flush", stream.flush)
        self._journal.attempt("flush logs", logging.shutdown)
        self._journal.attempt("end children", self._end_children)
        self._exit_now(0)

    def _end_children(self):
        """Those of multiprocessing, DataLoader's workers among them; they are asked to exit."""
        if "multiprocessing" not in sys.modules:
            return
        import multiprocessing

        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # DataLoader's raises when one goes
        children = multiprocessing.active_children()
        for child in children:
            child.terminate()
        until = time.monotonic() + CHILDREN_SECONDS
        for child in children:
            child.join(max(0, until - time.monotonic()))

    # ---- ways to end ---------------------------------------------------------------------------

    def _at_exit(self):
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if error is not None:
            self.end(self._of_exception(error))
        else:
            self.end(self._of_status(self._status))

    def _watched_exit_now(self, status):
        self.end(self._of_status(status))
        self._exit_now(status)

    def _watched_exit(self, status=None, /):
        self._status = status_of(status)
        self._cause = sys.exc_info()[1] if self._status else None
        self._exit(status)

    def _note_thread(self, args):
        self._journal.note(f"a thread ended with {describe(args.exc_value)}")

    def _of_exception(self, error):
        if self._ooms.is_one_in(error):
            return Ending("oom", describe(error), 1)
        self._journal.attempt("look at an exception's line", self._results.note_if_by_a_value,
                              error)
        return Ending("error", describe(error), 130 if isinstance(error, KeyboardInterrupt) else 1)

    def _of_status(self, status):
        """An exit. With a status it is often for an exception that was handled just before."""
        cause = self._cause if status else None
        text = describe(cause) if cause is not None else None
        if status and (self._ooms.was_last() or (cause and self._ooms.is_one_in(cause))):
            return Ending("oom", text, status)
        return Ending("exit", text, status)

    def _watch_sigterm(self):
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_sigterm)

    def _on_sigterm(self, number, frame):
        self.end(Ending("error", "terminated by SIGTERM", 128 + number))
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
