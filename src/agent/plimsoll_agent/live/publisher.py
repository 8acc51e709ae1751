"""Publishes the figures of this process while it runs, and does what readers request.

A thread wakes ten times a second. It is one of _thread, which threading neither lists nor waits
for, and no other joins it: where the interpreter ends, it is waiting and holds nothing.

It takes the interpreter's lock, then that of PyTorch's allocator, as torch.cuda.memory_stats()
does. PyTorch never takes them in the other order (torch/csrc/profiler/python/
combined_traceback.cpp, "Locking"). A thread of the program that sits in cudaMalloc holds the
allocator's lock for long; the one look that waited for it is followed by a pause ten times as long.
"""

import _thread
import os
import time

from plimsoll_agent.live import page as pages
from plimsoll_agent.live.figures import Figures

PERIOD_SECONDS = 0.1
PERIOD_SECONDS_MAX = 10.0
SHARE_MAX = 0.0008  # of a processor's time; the promise is 0.001
DEVICES_SECONDS = 2.0  # from one look for devices that came into use to the next


class Publisher:
    """Of one process."""

    def __init__(self, recorder, environment=os.environ):
        self._recorder = recorder
        self._environment = environment
        self._clear()

    def _clear(self):
        self._figures = None
        self._page = None
        self._process = pages.Process()
        self._wake = None
        self._is_over = True
        self._looked_for_devices = 0.0
        self._cost = 0.0  # of a look, of processor time, as it is on average
        self._wait = 0.0  # that the last look took, with waiting
        self._answered = 0  # the last request that was carried out

    # ---- called by the recorder ----------------------------------------------------------------

    def begin(self):
        """CUDA is there."""
        self._figures = Figures(self._recorder.torch)
        self._describe()
        self._is_over = False
        if self._environment.get("PLIMSOLL_LIVE") == "off":
            return
        try:
            self._page = pages.Page(self._environment)
        except (OSError, pages.Unusable) as error:
            self._recorder.journal.note(f"no live figures are published: {error}")
            return
        self._start()

    def forget(self):
        """This process was forked: page and thread are its parent's."""
        self._clear()

    def end(self):
        """The process ends: its page goes."""
        if self._is_over:
            return
        self._is_over = True
        if self._wake is not None:
            self._wake.release()
        if self._page is not None:
            self._page.close()

    def stepped(self, steps):
        """An optimizer has stepped.

        steps  finished now
        """
        self._process.step = steps

    # ---- the thread ----------------------------------------------------------------------------

    def _start(self):
        self._wake = _thread.allocate_lock()
        self._wake.acquire()
        _thread.start_new_thread(self._run, (self._wake,))

    def _run(self, wake):
        """Until end(), which releases the lock that is waited for."""
        look = self._recorder.journal.guard("publish live figures")(self._look)
        while not wake.acquire(True, self._period()):
            began, began_at = time.thread_time(), time.monotonic()
            if not look():
                break
            self._cost += 0.2 * (time.thread_time() - began - self._cost)
            self._wait = time.monotonic() - began_at
            request = self._page.request
            if request != self._answered:
                self._carry_out(request)

    def _period(self):
        wanted = max(PERIOD_SECONDS, self._cost / SHARE_MAX, 10 * self._wait)
        return min(wanted, PERIOD_SECONDS_MAX)

    def _look(self):
        """Publishes the figures of now; False where that is over."""
        if self._is_over:
            return False
        now = time.monotonic()
        if now - self._looked_for_devices >= DEVICES_SECONDS or not self._figures.devices:
            self._looked_for_devices = now
            self._figures.look_for_devices()
        self._publish(self._figures.look())
        return True

    def _publish(self, devices):
        self._process.period_ms = int(1000 * self._period())
        self._page.write(self._process, devices)

    def _carry_out(self, request):
        """A reader requests a dump."""
        self._answered = request
        attempt = self._recorder.journal.attempt
        self._process.state = pages.DUMPING
        attempt("say that it dumps", self._publish, self._figures.devices)
        name = attempt("dump on request", self._recorder.dump, "request")
        self._process.state = pages.RUNNING
        if name is not None:
            self._process.last_dump = name
            self._process.dump_count += 1
        attempt("say that it has dumped", self._publish, self._figures.devices)
        self._page.answer(request)

    def _describe(self):
        """What does not change."""
        process, recorder = self._process, self._recorder
        folder = os.fsencode(recorder.folder)
        process.folder = folder if len(folder) < pages.FOLDER_BYTES else b""
        process.rank = _number(self._environment.get("RANK"), -1)
        process.limit = recorder.choice.limit or 0
        process.plimsoll = getattr(recorder, "release", "")
        process.torch = str(getattr(recorder.torch, "__version__", ""))


def _number(text, otherwise):
    try:
        return int(text)
    except (TypeError, ValueError):
        return otherwise
