"""Writes dumps: what is known of one moment, with PyTorch's snapshot and the holders of memory.

Never half: each file is renamed into its place, the document last. Never fails for want of memory:
where it is short, the snapshot goes without its history, or is left out, with the reason.
"""

import functools
import pickle
import sys
import time

from plimsoll_agent.blackbox import machine
from plimsoll_agent.endings import describe

HOLDERS_SECONDS = 1.0  # to look for holders; the snapshot takes what it takes
BRIEF_SECONDS = 0.1  # of ours, where the program may go on
BRIEF_HOLDERS_SECONDS = 0.06  # of these, to look for holders; the rest is for figures and files
EVENT_BYTES = 1024  # that a snapshot takes in the making; 0.65 KiB were measured
SNAPSHOT_BYTES = 64 << 20  # and without any event
_TEXT_CHARACTERS_MAX = 100_000
_ENDINGS = (".json", ".pickle", ".holders.json")  # a dump goes in this order


class Account:
    """What a dump is of.

    reason    "oom", "exit", "signal", "request" or "stop"
    error     the text of an exception, or None
    where     the line of the program: "train.py:55 main", or None
    stack     innermost first
    ends      True if the program ends by this
    failure   of the allocator, as Ooms gives it, or None
    is_brief  figures and holders alone, within BRIEF_SECONDS
    is_late   the frames in which it failed are gone, and what they held
    why_no_holders  a reason not to look for any, or None
    """

    def __init__(self, reason, error=None, where=None, stack=(), ends=False, failure=None,
                 is_brief=False, is_late=False, why_no_holders=None):
        self.reason = reason
        self.error = error[:_TEXT_CHARACTERS_MAX] if error is not None else None
        self.where = where
        self.stack = list(stack)
        self.ends = ends
        self.failure = failure
        self.is_brief = is_brief
        self.is_late = is_late
        self.why_no_holders = why_no_holders
        if reason == "exit":
            self.why_no_holders = "the program has ended, and what its functions held is gone"


_FAILURE = ("device", "requested_bytes", "device_total_bytes", "device_free_bytes",
            "allocated_bytes", "reserved_bytes")


def _failure(oom):
    return {name: oom[name] for name in _FAILURE} if oom is not None else None


class Dumps:
    """Of one process.

    names  of those that are kept, oldest first
    """

    def __init__(self, recorder):
        self._recorder = recorder
        self.names = []
        self._documents = {}  # of those that this process wrote, by name
        self._leaving = []  # no longer kept, and still there
        self._next = 1

    def begin(self):
        """Finds those that are there: another program of this process, before it called exec."""
        self._recorder.files.remove_parts()
        self.names = [name[:-len(".json")] for name in self._recorder.files.names()
                      if name[:3].isdigit() and name.endswith(".json")
                      and not name.endswith(".holders.json")]
        self._next = max((int(name[:3]) for name in self.names), default=0) + 1

    def forget(self):
        """In a forked child."""
        self.names = []
        self._documents = {}
        self._leaving = []
        self._next = 1

    # ---- writing -------------------------------------------------------------------------------

    def write(self, account, name=None):
        """Writes a dump; its name. Raises OSError where that cannot be.

        name  of one that is made complete by this, or None
        """
        began = time.monotonic()
        before = self._documents.get(name)
        if name is None:
            name = f"{self._next:03d}-{account.reason}"
            self._next += 1
        collector = self._recorder.journal.attempt("look at the collector", machine.collector)
        with machine.without_collector():
            document = self._document(account, name)
            document["collector"] = collector
            self._add_holders(document, account, name, began, before)
            self._add_snapshot(document, account, name)
        document["seconds"] = round(time.monotonic() - began, 4)
        self._keep(name, document)
        return name

    def amend(self, name, **members):
        """Changes what a dump says, where it says something else."""
        document = self._documents.get(name)
        if document is not None and any(document[key] != value for key, value in members.items()):
            self._recorder.files.write_json(name + ".json", {**document, **members})
            document.update(members)

    def ends_program(self):
        """Names of the dumps that say that the program ends by them."""
        return [name for name, document in self._documents.items() if document["ends_program"]]

    def _keep(self, name, document):
        files = self._recorder.files
        try:
            files.write_json(name + ".json", document)
        except BaseException:
            if name not in self.names:
                for ending in _ENDINGS[1:]:
                    files.remove(name + ending)
            raise
        self._documents[name] = document
        if name not in self.names:
            self.names.append(name)
        self._rotate()

    def _rotate(self):
        """Lets the oldest go, but for the first out-of-memory error and the last dump."""
        first = next((name for name in self.names if name.endswith("-oom")), None)
        old = [name for name in self.names[:-1] if name != first]
        for name in old[:max(len(self.names) - self._recorder.choice.dumps, 0)]:
            self._leaving.append(name)
            self.names.remove(name)
            self._documents.pop(name, None)

    def sweep(self):
        """Removes those that are no longer kept, once the process's file does not name them."""
        for name in self._leaving:
            for ending in _ENDINGS:
                self._recorder.files.remove(name + ending)
        self._leaving = []

    # ---- what is in it -------------------------------------------------------------------------

    def _document(self, account, name):
        recorder = self._recorder
        attempt = recorder.journal.attempt
        devices = recorder.devices
        figures = devices.figures if account.is_brief else devices.full_figures
        return {
            "schema": "run-dump/1",
            "number": int(name[:3]),
            "reason": account.reason,
            "time": round(time.time(), 3),
            "seconds": None,
            "step": recorder.course.step_now(),
            "error": account.error,
            "where": account.where,
            "stack": account.stack,
            "ends_program": account.ends,
            "failure": _failure(account.failure),
            "snapshot": None,
            "why_no_snapshot": None,
            "why_no_history": None,
            "holders": None,
            "why_no_holders": None,
            "settings": recorder.allocator.describe()[0],
            "collector": None,
            "devices": attempt("report devices", figures) or [],
            "host": attempt("report the host's memory", machine.host),
        }

    def _add_holders(self, document, account, name, began, before):
        """Those of the moment of failure stay, where a dump is made complete later than that."""
        if before is not None and before["holders"] is not None and account.is_late:
            document["holders"] = before["holders"]
            return
        if account.why_no_holders is not None:
            document["why_no_holders"] = account.why_no_holders
            return
        seconds = HOLDERS_SECONDS
        if account.is_brief:
            seconds = BRIEF_HOLDERS_SECONDS - (time.monotonic() - began)
        moment = "failure" if account.is_brief else "dump"
        try:
            from plimsoll_agent import holders

            found = holders.find(self._recorder.torch, seconds, moment=moment,
                                 extra_roots=self._recorder.roots())
            self._recorder.files.write_json(name + ".holders.json", found)
            document["holders"] = name + ".holders.json"
        except Exception as error:
            document["why_no_holders"] = describe(error)

    def _add_snapshot(self, document, account, name):
        if account.is_brief:
            document["why_no_snapshot"] = "the program may handle the failure and go on"
            return
        history = self._recorder.history
        why = self._why_no_history()
        for take in [history.state] if why else [history.snapshot, history.state]:
            try:
                write = functools.partial(self._pickle, document, take)
                self._recorder.files.write(name + ".pickle", write)
                document["snapshot"] = name + ".pickle"
                document["why_no_history"] = why
                return
            except Exception as error:
                document["why_no_snapshot"] = why = describe(error)

    def _pickle(self, document, take, file):
        allocator = self._recorder.allocator
        snapshot = take()
        allocator.take(snapshot)
        document["settings"] = allocator.describe()[0]
        pickle.dump(snapshot, file, protocol=4)

    def _why_no_history(self):
        """A reason to leave the history out of a snapshot, or None."""
        recorder = self._recorder
        entries = recorder.choice.events
        if recorder.history.is_programs():
            entries = sys.maxsize
        if entries == 0:
            return "nothing was recorded"
        available = recorder.journal.attempt("look at the machine's memory",
                                             machine.available_bytes)
        wanted = SNAPSHOT_BYTES + EVENT_BYTES * min(recorder.devices.events(), entries)
        if available is not None and available < wanted:
            return f"this machine has only {available >> 20} MiB of memory left"
        return None
