"""Puts the recorder's parts together, once torch is there."""

import atexit
import json
import os
import sys
import time

from plimsoll_agent.history import History
from plimsoll_agent.journal import Journal


class Recorder:
    """Of one process."""

    def __init__(self, torch, choice):
        self.torch = torch
        self.choice = choice
        self.journal = Journal()
        self.history = History(torch, choice.events, self.journal)
        self.is_ready = False  # CUDA is in use
        self._dumps = []
        self._pid = os.getpid()

    def install(self):
        """Hooks into torch; each part fails by itself."""
        attempt = self.journal.attempt
        attempt("cover the history", self.history.cover)
        attempt("wait for CUDA", self.torch.cuda._lazy_call, self.journal.guard("begin")(self._begin))

    @property
    def folder(self):
        """Of this process, in that of the run."""
        return os.path.join(self.choice.folder, str(os.getpid()))

    def _begin(self):
        """CUDA is there, and nothing is allocated."""
        self.is_ready = True
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.journal.attempt("begin history", self.history.begin)
        atexit.register(self.journal.guard("dump at exit")(self._at_exit))

    def _at_exit(self):
        if os.getpid() == self._pid:
            error = getattr(sys, "last_value", None)
            is_oom = isinstance(error, getattr(self.torch, "OutOfMemoryError", MemoryError))
            self.dump("oom" if is_oom else "exit", error)

    def dump(self, reason, error=None):
        """Writes a dump; its name, or None."""
        began = time.monotonic()
        name = f"{len(self._dumps) + 1:03d}-{reason}"
        snapshot = None
        if self.choice.events > 0:
            self.history.write_snapshot(os.path.join(self.folder, f"{name}.pickle"))
            snapshot = f"{name}.pickle"
        self._write(f"{name}.json", {
            "schema": "run-dump/1",
            "number": len(self._dumps) + 1,
            "reason": reason,
            "time": time.time(),
            "seconds": round(time.monotonic() - began, 4),
            "error": str(error) if error is not None else None,
            "ends_program": error is not None,
            "snapshot": snapshot,
        })
        self._dumps.append(name)
        return name

    def _write(self, name, document):
        path = os.path.join(self.folder, name)
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(f"{path}.part", path)


def start(torch, choice):
    """Begins to watch a process that has just imported torch."""
    recorder = Recorder(torch, choice)
    recorder.journal.attempt("start", recorder.install)
    return recorder
