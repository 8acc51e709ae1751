"""The contents of process.json (run-process/1)."""

import os
import platform
import sys
import time

from plimsoll_agent import allocator, ranks


class ProcessFile:
    """Written when CUDA comes into use, after each dump and at the end."""

    NAME = "process.json"

    def __init__(self, recorder):
        self._recorder = recorder
        self._started = time.time()
        self._driver = None

    def forget(self):
        """In a forked child, which begins now."""
        self._started = time.time()

    def write(self, ending):
        """Writes what is known.

        ending  members of the end: "ended", "exit_status", "exception", "stopped_on"
        """
        self._recorder.files.write_json(self.NAME, self._document(ending))

    def _document(self, ending):
        recorder = self._recorder
        attempt = recorder.journal.attempt
        rank, local_rank, world_size = (
            attempt("find its rank", ranks.current, recorder.torch) or (0, 0, 1))
        devices = attempt("report devices", recorder.devices.figures) or []
        return {
            "schema": "run-process/1",
            "pid": os.getpid(),
            "parent_pid": os.getppid(),
            "rank": rank,
            "local_rank": local_rank,
            "world_size": world_size,
            "argv": list(getattr(sys, "argv", [])),
            "python": platform.python_version(),
            "torch": str(recorder.torch.__version__),
            "cuda": getattr(getattr(recorder.torch, "version", None), "cuda", None),
            "driver": attempt("ask for the driver's release", self._driver_release),
            "plimsoll": recorder.release or None,
            "started": round(self._started, 3),
            "written": round(time.time(), 3),
            "ended": ending.get("ended", "running"),
            "exit_status": ending.get("exit_status"),
            "exception": ending.get("exception"),
            "stopped_on": ending.get("stopped_on"),
            "record": recorder.choice.record,
            "events": recorder.choice.events,
            "history_is_programs": recorder.history.is_programs(),
            "limit_bytes": recorder.choice.limit,
            "settings_requested": allocator.asked()[1],
            "settings": recorder.allocator.describe()[0],
            "steps": recorder.steps.done,
            "devices": devices,
            "oom_count": recorder.ooms.count(),
            "ooms": recorder.ooms.places_as_result(),
            "growth": attempt("report growth", recorder.growth) or [],
            "dumps": list(recorder.dumps.names),
            "agent_seconds": round(recorder.seconds, 4),
            "warnings": list(recorder.journal.lines),
        }

    def _driver_release(self):
        """Of the kernel's module at first; of NVML once a dump has opened that."""
        if self._driver is None:
            self._driver = self._recorder.devices.driver_release()
        return self._driver
