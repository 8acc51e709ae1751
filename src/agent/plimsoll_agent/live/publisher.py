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
from plimsoll_agent.live import stopping
from plimsoll_agent.live.figures import Figures
from plimsoll_agent.live.watch import Watch

PERIOD_SECONDS = 0.1
PERIOD_SECONDS_MAX = 2.0  # so long a request waits at most
SHARE_MAX = 0.0006  # of a processor, by looks; the promise is 0.001 for all
STEPS_SECONDS = 0.05  # that looks at the ends of steps may take at once: some thousand steps
STEPS_SHARE_MAX = 0.0005  # and of the time after that: of very short steps some are left out
DEVICES_SECONDS = 2.0  # from one look for devices that came into use to the next


class Publisher:
    """Of one process."""

    def __init__(self, recorder, environment=os.environ):
        self._recorder = recorder
        self._environment = environment
        self._clear()

    def _clear(self):
        self._figures = None
        self._watch = None  # over the steps
        self._conditions = []
        self._page = None
        self._process = pages.Process()
        self._wake = None
        self._is_over = True
        self._looked_for_devices = 0.0
        self._began = time.monotonic()
        self._steps_cost = 0.0
        self._cost = 0.0  # of a look, of processor time, as it is on average
        self._wait = 0.0  # that the last look took, with waiting
        self._answered = 0  # the last request that was carried out
        self._stop = None
        self._reason = None  # to stop: (condition, sentence), until that is done

    # ---- called by the recorder ----------------------------------------------------------------

    def begin(self):
        """CUDA is there."""
        recorder = self._recorder
        self._figures = Figures(recorder.torch, recorder.devices)
        self._conditions = stopping.read(recorder.choice.stop_on, recorder.journal)
        self._watch = Watch(recorder)
        self._describe()
        self._is_over = False
        if self._environment.get("PLIMSOLL_LIVE") != "off":
            try:
                self._page = pages.Page(self._process, self._environment)
            except (OSError, pages.Unusable) as error:
                recorder.journal.note(f"no live figures are published: {error}")
        if self._page is not None or self._conditions:
            self._wake = _thread.allocate_lock()
            self._wake.acquire()
            _thread.start_new_thread(self._run, (self._wake,))

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
        if self._is_over or steps == self._process.step:
            return
        self._process.step = steps
        allowed = STEPS_SECONDS + STEPS_SHARE_MAX * (time.monotonic() - self._began)
        if self._steps_cost <= allowed:
            self._recorder.journal.attempt("watch the steps", self._watch_step, steps)

    def growth(self):
        """[{"device", "bytes_per_step", "since_step", "where", "full_at_step"}] where it is sure."""
        return self._watch.results() if self._watch is not None else []

    # ---- steps ---------------------------------------------------------------------------------

    def _watch_step(self, steps):
        began = time.perf_counter()
        if self._is_due():
            self._figures.look_for_devices()
        devices = self._figures.look()
        self._steps_cost += time.perf_counter() - began
        for device in devices:
            sentence = self._watch.stepped(device, steps)
            if sentence is not None:
                self._wish_to_stop(lambda condition: condition.share is None, sentence)

    def _is_due(self):
        """True if it is time to look for devices that came into use."""
        now = time.monotonic()
        if now - self._looked_for_devices < DEVICES_SECONDS and self._figures.devices:
            return False
        self._looked_for_devices = now
        return True

    # ---- --stop-on -----------------------------------------------------------------------------

    def _wish_to_stop(self, is_met, sentence):
        """The thread does it: not this one, whose frames are the program's."""
        condition = next(filter(is_met, self._conditions), None)
        if condition is not None and self._reason is None and self._stop is None:
            self._reason = condition.text, sentence

    def _check_conditions(self, devices):
        for device in devices:
            capacity = self._recorder.choice.limit or device.total
            self._wish_to_stop(
                lambda condition: condition.holds(device, capacity),
                f"GPU {device.index} has {device.reserved / capacity:.1%} of its memory reserved")

    def _stop_program(self):
        (condition, sentence), self._reason = self._reason, None
        attempt = self._recorder.journal.attempt
        self._stop = stopping.Stop()
        if attempt("dump before the stop", self._recorder.stopping, condition):
            self._recorder.say(f"ends the program (--stop-on={condition}): {sentence}")
            attempt("stop the program", self._stop.begin)

    # ---- the thread ----------------------------------------------------------------------------

    def _run(self, wake):
        """Until end(), which releases the lock that is waited for."""
        look = self._recorder.journal.guard("publish live figures")(self._look)
        goes_on = True
        while not wake.acquire(True, self._period()) and not self._is_over:
            began, began_at = time.thread_time(), time.monotonic()
            goes_on = goes_on and look()
            self._cost += 0.2 * (time.thread_time() - began - self._cost)
            self._wait = time.monotonic() - began_at
            if self._reason is not None:
                self._stop_program()
            if self._stop is not None:
                self._stop.look()
            if self._page is not None and self._page.request != self._answered:
                self._carry_out(self._page.request)

    def _period(self):
        wanted = max(PERIOD_SECONDS, self._cost / SHARE_MAX, 10 * self._wait)
        return min(wanted, PERIOD_SECONDS_MAX)

    def _look(self):
        """Publishes the figures of now; None where that fails: it is not tried again."""
        if self._is_due():
            self._figures.look_for_devices()
        devices = self._figures.look()
        self._check_conditions(devices)
        self._publish(devices)
        return True

    def _publish(self, devices):
        if self._page is None:
            return
        process, recorder = self._process, self._recorder
        names = recorder.dumps.names
        process.last_dump = names[-1] if names else ""
        process.dump_count = int(process.last_dump[:3] or 0)
        process.flags = pages.HANDLES_SIGUSR1 if recorder.handles_signal() else 0
        process.period_ms = int(1000 * self._period())
        self._page.write(process, devices)

    def _carry_out(self, request):
        """A reader requests a dump."""
        self._answered = request
        attempt = self._recorder.journal.attempt
        self._process.state = pages.DUMPING
        attempt("say that it dumps", self._publish, self._figures.devices)
        attempt("dump on request", self._recorder.dump, "request")
        self._process.state = pages.RUNNING
        attempt("say that it has dumped", self._publish, self._figures.devices)
        self._page.answer(request)

    def _describe(self):
        """What does not change."""
        process, recorder = self._process, self._recorder
        folder = os.fsencode(recorder.folder)
        process.folder = folder if len(folder) < pages.FOLDER_BYTES else b""
        process.rank = _number(self._environment.get("RANK"), -1)
        process.limit = recorder.choice.limit or 0
        process.plimsoll = recorder.release
        process.torch = str(recorder.torch.__version__)


def _number(text, otherwise):
    try:
        return int(text)
    except (TypeError, ValueError):
        return otherwise
