"""The results of one process, written as JSON into the rehearsal's folder.

Always whole: a file is written beside and put in its place. Written at the end, at the first OOM,
and every few seconds by a thread, so that a process that is killed leaves something. The thread
is not one of Python's threading module: the program does not see it among its own.
"""

import _thread
import json
import os
import platform
import sys
import threading
import time

from plimsoll_agent import kernels, ranks
from plimsoll_agent.endings import RUNNING, Ending

INTERVAL_SECONDS = 5
LOCK_SECONDS = 2  # to wait for a thread that is writing


class Results:
    """Gathers from the agent's parts and writes."""

    def __init__(self, agent):
        self._agent = agent
        self._lock = threading.RLock()
        self._is_final = False

    def begin_anew(self, is_mute):
        """In a forked child, where the parent's lock may stay locked."""
        self._lock = threading.RLock()
        self._is_final = is_mute

    def _path(self, ending):
        return os.path.join(self._agent.settings.results, f"{os.getpid()}{ending}")

    def write(self, ending):
        """Writes what is known. After a final ending nothing is written any more."""
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            return
        try:
            if self._is_final or not self._agent.has_results():
                return
            self._is_final = ending.how != RUNNING
            if self._is_final:
                self._agent.journal.attempt("write a snapshot", self._write_last_snapshot, ending)
            temporary = self._path(".json.part")
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(self._document(ending), file)
            os.replace(temporary, self._path(".json"))
        finally:
            self._lock.release()

    def write_oom_snapshot(self):
        """The state at the first OOM, where a recording is wanted."""
        if self._agent.settings.history:
            self._agent.history.write_snapshot(self._path(".oom.pickle"))

    def _write_last_snapshot(self, ending):
        """The state at the end. After a deadly OOM that of the OOM is worth more."""
        is_wanted = self._agent.settings.snapshot and self._agent.is_ready
        at_oom = ending.how == "oom" and os.path.exists(self._path(".oom.pickle"))
        if is_wanted and not at_oom:
            self._agent.history.write_snapshot(self._path(".pickle"))

    def _snapshot_name(self):
        for ending in (".pickle", ".oom.pickle"):
            if os.path.exists(self._path(ending)):
                return os.path.basename(self._path(ending))
        return None

    def _document(self, ending):
        agent = self._agent
        rank, local_rank, world_size = (
            agent.journal.attempt("find its rank", ranks.current, agent.torch) or (0, 0, 1)
        )
        return {
            "version": 1,
            "pid": os.getpid(),
            "rank": rank,
            "local_rank": local_rank,
            "world_size": world_size,
            "argv": list(getattr(sys, "argv", [])),
            "torch": str(agent.torch.__version__),
            "python": platform.python_version(),
            "ended": ending.how,
            "stop_reason": ending.stop_reason,
            "stop_text": ending.stop_text,
            "exception": ending.exception,
            "exit_status": ending.status,
            "steps": agent.steps.done,
            "seconds": {
                "import": round(agent.import_seconds, 3),
                "total": round(time.monotonic() - agent.settings.started, 3),
            },
            "conf": agent.conf(),
            "devices": agent.journal.attempt("report devices", self._devices) or [],
            "ooms": agent.ooms.as_result(),
            "oom_count": agent.ooms.count(),
            "oom_places": agent.ooms.places_as_result(),
            "no_gpu_text": agent.journal.attempt("say why no GPU was used", self._why_no_gpu),
            "value_reads": agent.reads.as_result(),
            "facts": agent.facts.as_result(),
            "work": agent.costs.as_result(ending.how != RUNNING) if agent.settings.work else None,
            "snapshot": self._snapshot_name(),
            "warnings": [*agent.journal.lines, *agent.host.as_lines()],
        }

    def note_if_by_a_value(self, error):
        """Notes that an exception came from a line that reads what was not computed."""
        agent = self._agent
        lines = {read["where"] for read in agent.reads.as_result()}
        step = error.__traceback__
        found = None
        while step is not None:
            name = agent.reads.name_of(step.tb_frame, step.tb_lineno)
            found = name if name in lines else found
            step = step.tb_next
        if found is not None:
            agent.journal.note(f"{found} reads a value that was not computed here: this failure "
                               "may not happen on a GPU")

    def _why_no_gpu(self):
        agent = self._agent
        return None if agent.is_ready else kernels.why_unused(agent.torch)

    def _devices(self):
        """The devices that were used."""
        devices = []
        for index, ledger in enumerate(self._agent.phases.current_ledgers()):
            if not ledger.was_used():
                continue
            counts = self._agent.peaks.counts(index)
            device = {"device": index}
            device.update(ledger.as_result(self._agent.steps.done))
            device["alloc_retries"] = counts["num_alloc_retries"]
            device["ooms"] = counts["num_ooms"]
            devices.append(device)
        return devices

    def keep_writing(self):
        """Starts the thread."""
        _thread.start_new_thread(self._write_now_and_then, (os.getpid(),))

    def _write_now_and_then(self, pid):
        attempt = self._agent.journal.attempt
        while True:
            time.sleep(INTERVAL_SECONDS)
            if self._is_final or os.getpid() != pid:
                return
            attempt("write results", self.write, Ending(RUNNING))
