"""Puts the recorder's parts together, once torch is there."""

import contextlib
import functools
import importlib
import os
import signal
import sys
import threading
import time

from plimsoll_agent import signals
from plimsoll_agent.allocator import Allocator
from plimsoll_agent.blackbox import uncaught
from plimsoll_agent.blackbox.course import Course
from plimsoll_agent.blackbox.devices import Devices
from plimsoll_agent.blackbox.dumps import Account, Dumps
from plimsoll_agent.blackbox.failures import Failures
from plimsoll_agent.blackbox.files import Folder
from plimsoll_agent.blackbox.limits import Limits
from plimsoll_agent.blackbox.process import ProcessFile
from plimsoll_agent.endings import Endings
from plimsoll_agent.frameless import announced
from plimsoll_agent.history import History
from plimsoll_agent.journal import Journal
from plimsoll_agent.ooms import Ooms
from plimsoll_agent.places import Places
from plimsoll_agent.steps import Steps

try:
    from plimsoll_agent.release import RELEASE
except ImportError:  # run from its sources
    RELEASE = ""

LOCK_SECONDS = 5  # to wait for another thread's dump


class Recorder:
    """Of one process.

    choice   the launcher's
    release  of Plimsoll
    seconds  of processor time that dumps took
    """

    def __init__(self, torch, choice):
        self.torch = torch
        self.choice = choice
        self.release = RELEASE
        self.seconds = 0.0
        self.is_ready = False  # CUDA is in use
        self.roots = list  # called for objects to begin at, where holders are looked for
        self._is_over = False  # nothing is written any more
        self._begin_anew()
        self.journal = Journal()
        self.places = Places(torch.__file__)
        self.allocator = Allocator(torch)
        self.history = History(torch, choice.events, self.journal)
        self.devices = Devices(torch, self.journal)
        self.course = Course(self.devices)
        self.steps = Steps(torch.optim.Optimizer, None, self.course)
        self.ooms = Ooms(torch, self.places, self.course, self.journal)
        self.endings = Endings(self.ooms, self.journal)
        self.limits = Limits(torch, choice.limit, self.journal)
        self.dumps = Dumps(self)
        self.failures = Failures(self)
        self.process = ProcessFile(self)
        self._on_signal = self.journal.guard("dump on a signal")(self._signalled)
        self.publisher = None

    def _begin_anew(self):
        self.files = Folder(os.path.join(self.choice.folder, str(os.getpid())))
        self._lock = threading.RLock()  # a thread dumps
        self._is_at_work = False
        self._has_complained = False
        self._stopped_on = None  # a condition of --stop-on

    # ---- the start -----------------------------------------------------------------------------

    def install(self):
        """Hooks into torch; each part fails by itself."""
        attempt = self.journal.attempt
        attempt("cover the history", self.history.cover)
        attempt("cover the limit", self.limits.cover)
        is_tracing = getattr(getattr(self.torch, "compiler", None), "is_compiling", None)
        attempt("watch optimizers", self.steps.watch, self.journal, is_tracing)
        attempt("watch forks", self._watch_forks)
        attempt("wait for CUDA", self.torch.cuda._lazy_call, self.journal.guard("begin")(self._begin))

    @property
    def folder(self):
        """Of this process, in that of the run."""
        return self.files.path

    def _begin(self):
        """CUDA is there, and nothing is allocated: in a process, or in a fork of one without it."""
        if self._is_over or self.is_ready:
            return
        self.is_ready = True
        attempt = self.journal.attempt
        with self._costing():
            attempt("make its folder", self.files.make)
            attempt("find its dumps", self.dumps.begin)
            attempt("look at devices", self.devices.begin)
            attempt("look at the allocator", self._look_at_allocator)
            attempt("set the limit", self.limits.begin)
            attempt("begin history", self.history.begin)
            attempt("watch for out-of-memory errors", self._watch_failures)
            attempt("make ready to look for holders", importlib.import_module,
                    "plimsoll_agent.holders")  # 30 ms, and memory, that a failure lacks
            attempt("watch the end", self._watch_end)
            attempt("wait for SIGUSR1", signals.handle, signal.SIGUSR1, self._on_signal)
            attempt("begin to publish", self._begin_publishing)
            self._write_process({})

    def _look_at_allocator(self):
        self.allocator.begin()
        ignored = self.allocator.describe()[1]
        if ignored is not None:
            self.journal.note(ignored)

    def _watch_failures(self):
        self.ooms.on_failure = self.failures.failed
        self.ooms.on_text = self.failures.worded
        self.ooms.begin()

    def _watch_end(self):
        guard = self.journal.guard
        self.endings.on_end = self._ended
        self.endings.on_exit = self._exits
        self.endings.on_thread = guard("account for a thread's end")(self._thread_ended)
        self.endings.watch()
        self.endings.watch_sigterm()
        uncaught.watch(guard("account for an exception")(self._uncaught))
        execs = guard("note that the process becomes another program")(self._execs)
        for name in ("execv", "execve"):  # all of Python's go through these
            setattr(os, name, announced(getattr(os, name), execs))

    def _begin_publishing(self):
        try:
            from plimsoll_agent.live import Publisher
        except ImportError:
            return
        self.publisher = Publisher(self)
        self.course.on_step = self.publisher.stepped
        self.publisher.begin()

    def _watch_forks(self):
        os.register_at_fork(after_in_child=self.journal.guard("begin in a fork")(self._forked))

    def _forked(self):
        """A child begins: of what the parent found, nothing is its own.

        A parent's CUDA is of no use to it: then there is nothing to record.
        """
        self._begin_anew()
        self._is_over = self._is_over or self.is_ready
        self.seconds = 0.0
        self.journal.lines.clear()
        for part in (self.ooms, self.endings, self.dumps, self.failures, self.process,
                     self.devices, self.limits):
            part.forget()
        signals.forget(signal.SIGUSR1, self._on_signal)
        if self.publisher is not None:
            self.publisher.forget()

    # ---- for the other parts -------------------------------------------------------------------

    def dump(self, reason, error=None):
        """Writes a dump of this moment; its name, or None.

        reason  "exit", "signal", "request" or "stop"
        error   an exception, or None
        """
        return self._dump(reason, error)

    def stopping(self, condition):
        """A condition of --stop-on holds: dumps; False where the program is about to end anyway."""
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            return False
        try:
            if self._is_over or self.dumps.ends_program():
                return False
            self._stopped_on = condition
            self._dump("stop", None, ends=True)
            return True
        finally:
            self._lock.release()

    def handles_signal(self):
        """True while SIGUSR1 leaves a dump."""
        return signals.is_handled(signal.SIGUSR1, self._on_signal)

    def say(self, line):
        """One line on standard error, unless the launcher wants quiet."""
        if not self.choice.is_quiet:
            with contextlib.suppress(OSError):
                os.write(2, f"plimsoll: {line}\n".encode("utf-8", "replace"))

    def growth(self):
        """[{"device", …}] of where memory is sure to grow."""
        found = getattr(self.publisher, "growth", None)
        return found() if found is not None else []

    # ---- dumps ---------------------------------------------------------------------------------

    def _dump(self, reason, error=None, text=None, ends=False, frame=None):
        """
        text  of what the program ends by, where its exception is gone
        """
        where, stack = self.place_of(error, frame)
        if error is not None:
            text = f"{type(error).__name__}: {error}"
        return self.account(reason, error=text, where=where, stack=stack, ends=ends)

    def account(self, reason, name=None, **members):
        """Writes a dump of what is known, and the process's file; its name, or None.

        name     of a dump that is made complete, or None
        members  of Account
        """
        if self._is_over or not self.is_ready:
            return None
        account = Account(reason, **members)
        with self._at_work(0 if account.is_brief else LOCK_SECONDS) as is_mine:
            if not is_mine:
                self.journal.note(f"a dump ({reason}) was left out: another one was under way")
                return None
            name = self._write("write a dump", functools.partial(self.dumps.write, account, name))
            self._write_process({})
            self.dumps.sweep()
            return name

    def amend(self, name, **members):
        """Changes what a dump says."""
        with self._at_work(0) as is_mine:
            if is_mine:
                self._write("write a dump", functools.partial(self.dumps.amend, name, **members))

    def _write_process(self, ending):
        self._write("write about the process", functools.partial(self.process.write, ending))

    def _write(self, what, write):
        """Calls write(). Where no file can be written, one line says so."""
        try:
            return write()
        except OSError as error:
            why = error.strerror or str(error)
            self.journal.failed(what, error)
            if not self._has_complained:
                self._has_complained = True
                self.say(f"could not write into {self.folder}: {why}; the program is not affected")
        except Exception as error:
            self.journal.failed(what, error)
        return None

    @contextlib.contextmanager
    def _at_work(self, seconds):
        """True where this thread may write now: no other does, and a signal did not interrupt it."""
        if not self._lock.acquire(timeout=seconds):
            yield False
            return
        try:
            if self._is_at_work:
                yield False
                return
            self._is_at_work = True
            try:
                with self._costing():
                    yield True
            finally:
                self._is_at_work = False
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _costing(self):
        began = time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.thread_time() - began

    def place_of(self, error, frame=None):
        """(the program's line, its stack) of an exception; without one, of a frame or the main
        thread's."""
        if error is not None:
            step = error.__traceback__
            while step is not None and step.tb_next is not None:
                step = step.tb_next
            if step is None:
                return None, []
            frame = step.tb_frame
        if frame is None:
            frame = sys._current_frames().get(threading.main_thread().ident)
        stack = self.places.stack(frame)
        return (stack and self.places.name(self.places.users_frame(frame))) or None, stack

    # ---- what happens --------------------------------------------------------------------------

    def _signalled(self, frame):
        self._dump("signal", frame=frame)

    def _uncaught(self, error, ends):
        if not ends:
            self.endings.goes_on_after(error)
        if self.ooms.is_one_in(error):
            self.failures.ended(error, ends)

    def _thread_ended(self, error):
        if self.ooms.is_one_in(error):
            self.failures.ended(error, False)

    def _exits(self, status, cause):
        """The program calls sys.exit; in an except clause frames are alive now, not at the end."""
        if status and cause is not None and self.ooms.is_one_in(cause):
            self.failures.ended(cause, True)

    def _execs(self, *_):
        if self.is_ready and not self._is_over:
            self._write_process({"ended": "exit"})

    def _ended(self, ending):
        """The process ends; more than one way may lead here."""
        if self._is_over or not self.is_ready:
            return
        if self._stopped_on is not None:
            self._finish({"ended": "stopped", "exit_status": ending.status,
                          "exception": ending.exception, "stopped_on": self._stopped_on})
            return
        try:
            self._account_for_end(ending)
        except KeyboardInterrupt:  # it ends anyway
            self.journal.note("the dump at the end was interrupted")
        how = "signal" if _is_by_signal(ending) else ending.how
        self._finish({"ended": how, "exit_status": ending.status,
                      "exception": ending.exception})

    def _account_for_end(self, ending):
        said = self.dumps.ends_program()
        if ending.how == "oom":
            name = self.failures.ended(ending.error, True)
        elif _is_by_signal(ending) and ending.error is None:
            name = self._dump("signal", ends=True)  # in the midst of it
        else:
            name = self._dump("exit", ending.error, text=ending.exception,
                              ends=ending.exception is not None)
        for other in said:
            if other != name:  # it went on
                self.amend(other, ends_program=False)

    def _finish(self, ending):
        """The last that is written."""
        self._write_process(ending)
        self._is_over = True
        if self.publisher is not None:
            self.journal.attempt("end publishing", self.publisher.end)


def _is_by_signal(ending):
    """SIGTERM, which is no exception, and Ctrl-C."""
    return ending.how == "error" and (ending.error is None
                                      or isinstance(ending.error, KeyboardInterrupt))


def start(torch, choice):
    """Begins to watch a process that has just imported torch."""
    recorder = Recorder(torch, choice)
    recorder.journal.attempt("start", recorder.install)
    return recorder


