"""Sees the process end, in each of the ways that Python lets one see.

A normal end and an uncaught exception come by atexit, which also finds the exception: Python
leaves it in sys.last_exc. os._exit, which multiprocessing's children use, skips atexit, so it
is wrapped; sys.exit is, to know the status. SIGTERM may get a handler where the program has none.
"""

import atexit
import builtins
import logging
import os
import signal
import sys
import threading
import time

from plimsoll_agent import signals
from plimsoll_agent.frameless import announced

CHILDREN_SECONDS = 2
RUNNING = "running"


class Ending:
    """How the process ends.

    how          "exit", "oom", "steps", "error", "stopped" or "running"
    exception    the last line of the traceback
    status       what its parent gets to see, as a shell says it
    stop_reason  of "stopped": "endless_loop" or "no_kernels"
    stop_text    the same as a sentence
    error        the exception itself, where Python keeps it anyway
    """

    def __init__(self, how, exception=None, status=0, stop_reason=None, stop_text=None, error=None):
        self.how = how
        self.exception = exception
        self.status = status
        self.stop_reason = stop_reason
        self.stop_text = stop_text
        self.error = error


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


def is_interactive():
    """True if the program goes on after an exception, because a person types it in."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive or sys.flags.inspect)


def stay_interrupted():
    """Reminds Python that a KeyboardInterrupt ends the program, which then ends by SIGINT.

    It forgets when any string is executed at exit, as by an import of namedtuples, and exits with 1
    (CPython 3.8 and later, Python/pythonrun.c, run_eval_code_obj).
    """
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


class Endings:
    """Calls back when the process ends.

    on_end     called with the Ending, once that is certain; more than once where ways to end meet
    on_error   called before with the exception that ends the program
    on_exit    called with status and exception, where sys.exit is called: the program may go on
    on_thread  called with the exception that has ended a thread
    """

    def __init__(self, ooms, journal):
        self._ooms = ooms
        self._journal = journal
        self._exit_now = os._exit
        self._status = 0
        self._cause = None  # last line of what was handled when sys.exit was called
        self._is_by_oom = False  # and whether it was, or came of, an out-of-memory error
        self._progress_at_exit = None
        self._survived = None  # the identity of an exception after which the program went on
        self.on_end = None
        self.on_error = None
        self.on_exit = None
        self.on_thread = None

    def watch(self):
        """From now on."""
        # of all atexit functions the first one registered is called last
        atexit.register(self._journal.guard("write results at exit")(self._at_exit))
        os._exit = self._watched_exit_now
        note_exit = self._journal.guard("note an exit")(self._note_exit)
        sys.exit = announced(sys.exit, note_exit)
        self._journal.attempt("watch exit()", self._watch_quitters, note_exit)
        hook = threading.excepthook
        note = self._journal.guard("note a thread's exception")(self._note_thread)

        def excepthook(args, /):
            try:
                hook(args)
            finally:
                note(args)

        threading.excepthook = excepthook

    def _watch_quitters(self, note):
        """exit() and quit() of a script, which python -S does not have."""
        quitter = type(getattr(builtins, "exit", None))
        if quitter.__module__ == "_sitebuiltins":
            quitter.__call__ = announced(builtins.exit.__call__, note)

    def forget(self):
        """In a forked child: the parent's exit is not its own."""
        self._status = 0
        self._cause = None
        self._is_by_oom = False
        signals.forget(signal.SIGTERM, self._on_sigterm)

    def end(self, ending):
        """The process ends so."""
        switches = sys.modules.get("plimsoll_agent.switches.host")
        if switches is not None:
            switches.write()
        if self.on_end is not None:
            self._journal.attempt("write results", self.on_end, ending)

    def stop(self, ending=None):
        """Ends the process, as one that is done: children too, without the program's rest.

        ending  None: the steps that were requested are done
        """
        ending = ending or Ending("steps")
        self.end(ending)
        for stream in (sys.stdout, sys.stderr):
            self._journal.attempt("flush", stream.flush)
        self._journal.attempt("flush logs", logging.shutdown)
        self._journal.attempt("end children", self._end_children)
        self._exit_now(ending.status)

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
        error = self._uncaught()
        if error is not None:
            self.end(self._of_exception(error))
        else:
            self.end(self._of_status(self._status if self._has_exited() else 0))
        if isinstance(error, KeyboardInterrupt):
            stay_interrupted()

    def goes_on_after(self, error):
        """An exception was shown, as of a program that ends, and the program went on."""
        self._survived = id(error)

    def _uncaught(self):
        """The exception that ends the program, or None."""
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        return None if is_interactive() or id(error) == self._survived else error

    def _watched_exit_now(self, status):
        self.end(self._of_status(status))
        self._exit_now(status)

    def _note_exit(self, status=None):
        self._status = status_of(status)
        cause = sys.exc_info()[1] if self._status else None  # not kept: it keeps frames alive
        self._cause = describe(cause) if cause is not None else None
        self._is_by_oom = cause is not None and self._ooms.is_one_in(cause)
        self._progress_at_exit = self._ooms.progress()
        if self.on_exit is not None:
            self.on_exit(self._status, cause)

    def _has_exited(self):
        """False if something caught what sys.exit raised, and the program went on."""
        return self._progress_at_exit == self._ooms.progress()

    def _note_thread(self, args):
        if self.on_thread is not None:
            self.on_thread(args.exc_value)

    def _of_exception(self, error):
        if self._ooms.is_one_in(error):
            return Ending("oom", describe(error), 1, error=error)
        if self.on_error is not None:
            self._journal.attempt("look at an exception's line", self.on_error, error)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
        return Ending("error", describe(error), status, error=error)

    def _of_status(self, status):
        """An exit. With a status it is often for an exception that was handled just before."""
        text = self._cause if status else None
        if status and (self._ooms.was_last() or self._is_by_oom):
            return Ending("oom", text, status)
        return Ending("exit", text, status)

    def watch_sigterm(self):
        """SIGTERM too, where the program has no handler; the process ends by it as it would have."""
        signals.handle(signal.SIGTERM, self._on_sigterm, is_deadly=True)

    def _on_sigterm(self, _frame):
        self.end(Ending("error", "terminated by SIGTERM", 128 + signal.SIGTERM))
