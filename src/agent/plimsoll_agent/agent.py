"""Puts the agent's parts together, once torch is there."""

import multiprocessing.process
import os

from plimsoll_agent import allocator, checks, kernels
from plimsoll_agent.costs import Costs
from plimsoll_agent.deciding import Deciding
from plimsoll_agent.endings import RUNNING, Ending, Endings, describe
from plimsoll_agent.facts import Facts
from plimsoll_agent.history import History
from plimsoll_agent.host import Host
from plimsoll_agent.journal import Journal
from plimsoll_agent.ooms import Ooms
from plimsoll_agent.peaks import Peaks
from plimsoll_agent.phases import Phases
from plimsoll_agent.places import Places
from plimsoll_agent.reads import Reads
from plimsoll_agent.results import Results
from plimsoll_agent.steps import Steps


class Agent:
    """Of one process."""

    def __init__(self, torch, settings, import_seconds):
        self.torch = torch
        self.settings = settings
        self.import_seconds = import_seconds
        self.journal = Journal()
        self.facts = Facts()
        self.is_ready = False  # CUDA is in use
        self._is_fork = False
        places = Places(torch.__file__)
        self.peaks = Peaks(torch, self.journal)
        self.phases = Phases(torch, self.peaks, self.journal)
        self.steps = Steps(torch.optim.Optimizer, settings.steps, self.phases)
        self.host = Host(self.steps, self.journal)
        self.history = History(torch, settings.history, self.journal)
        self.reads = Reads(torch, places, self.phases, self.journal)
        self.ooms = Ooms(torch, places, self.phases, self.journal)
        self.costs = Costs(torch, self.phases, settings.results, self.journal,
                           skipped=(settings.work or 1) - 1)
        self.results = Results(self)
        self.endings = Endings(self.ooms, self.journal)
        self.deciding = Deciding(self)

    def install(self):
        """Hooks into torch; each part fails for itself."""
        attempt = self.journal.attempt
        attempt("watch the end", self.endings.watch)
        attempt("watch for SIGTERM", self.endings.watch_sigterm)
        attempt("cover statistics", self.peaks.cover)
        attempt("cover the history", self.history.cover)
        attempt("watch backward", self.phases.watch_backward, self.torch, self.journal)
        attempt("watch optimizers", self.steps.watch, self.journal)
        self.steps.enough = self.endings.stop
        self.reads.loops.stop = self._stop_endless
        self.ooms.on_failure = self._ran_out
        self.endings.on_error = self.results.note_if_by_a_value
        self.endings.on_end = self._end
        self.endings.on_thread = self._note_thread
        attempt("watch what decides", self.deciding.install)
        attempt("watch the host", self.host.watch)
        attempt("watch forks", self._watch_forks)
        attempt("stand in for other ranks", self._install_distributed)
        attempt("let checks of values succeed", checks.install, self.torch)
        attempt("wait for CUDA", self._wait_for_cuda)

    def _wait_for_cuda(self):
        """PyTorch runs queued calls when it first uses CUDA, before the first allocation."""
        self.torch.cuda._lazy_call(self.journal.guard("begin")(self._begin))

    def _begin(self):
        attempt = self.journal.attempt
        self.is_ready = True
        why = attempt("look for kernels", kernels.why_none, self.torch)
        if why is not None:
            self.endings.stop(Ending("stopped", stop_reason="no_kernels", stop_text=why))
        attempt("begin statistics", self.peaks.begin)
        attempt("begin phases", self.phases.begin, self.torch.cuda.device_count())
        attempt("look at what decides", self.deciding.begin)  # without a history it is quick
        attempt("begin history", self.history.begin)
        attempt("watch for out-of-memory errors", self.ooms.begin)
        attempt("watch for value reads", self.reads.begin)
        if self.settings.work:
            attempt("begin to count work", self.costs.begin)
        attempt("write results", self.results.write, Ending(RUNNING))  # it may crash early
        attempt("keep writing", self.results.keep_writing)

    def _end(self, ending):
        self.journal.attempt("close its books", self._close)
        self.results.write(ending)

    def _note_thread(self, error):
        self.journal.note(f"a thread ended with {describe(error)}")

    def _close(self):
        if self.is_ready:
            self.journal.attempt("count the last step", self.steps.finish, self.journal)
            self.journal.attempt("count the work of the last step", self.costs.stop)
        self.phases.close()
        self.journal.attempt("look at what decides", self.deciding.look, True)

    def _ran_out(self, _oom):
        """At the moment of failure. The first one is looked at."""
        if self.ooms.count() > 1:
            return
        self.journal.attempt("look at what decides", self.deciding.look)
        self.journal.attempt("write a snapshot", self.results.write_oom_snapshot)
        self.journal.attempt("write results", self.results.write, Ending(RUNNING))

    def _stop_endless(self, text):
        self.endings.stop(Ending("stopped", stop_reason="endless_loop", stop_text=text))

    def _install_distributed(self):
        try:
            from plimsoll_agent import distributed
        except ImportError:
            return
        distributed.install(self.torch, self.journal)

    def _watch_forks(self):
        os.register_at_fork(after_in_child=self.journal.guard("begin in a fork")(self._forked))

    def _forked(self):
        """A child begins: of what the parent found, nothing is its own."""
        self._is_fork = True
        self.journal.lines.clear()
        self.peaks.forget()
        self.phases.forget()
        self.results.begin_anew(is_mute=self.is_ready)  # CUDA does not survive a fork

    def has_results(self):
        """True if this process has results. Workers that use no CUDA have none.

        That multiprocessing started a process is not known yet while its modules are imported.
        """
        is_worker = self._is_fork or multiprocessing.process.parent_process() is not None
        return self.is_ready or not is_worker

    def conf(self):
        """The settings of PyTorch's allocator, from its environment."""
        return allocator.asked()[1]


def start(torch, settings, import_seconds):
    """Begins to watch a process that has just imported torch."""
    agent = Agent(torch, settings, import_seconds)
    agent.journal.attempt("start", agent.install)
