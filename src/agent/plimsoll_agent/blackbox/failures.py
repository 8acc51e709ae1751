"""Accounts of requests that failed: brief ones at once, a full one where the program ends by it.

    the allocator's observer ── failed() ──► brief: figures and holders, at most 100 ms
            ▼                                   │
    the exception is made ──── worded() ────────┤ the text
            ▼                                   ▼
    it ends the program ────── ended() ─────► full: the same dump, now with a snapshot

An observer cannot know whether the program will handle the failure. So a program that does pays for
the brief account, of the first three from each line; one that does not gets the full one while the
frames of its traceback are alive.
"""

import time

from plimsoll_agent.blackbox.dumps import BRIEF_SECONDS

BRIEF_MAX = 3  # from each line
_TOO_SLOW = "the search took too long at the last failure"


class Failures:
    """Of one process."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._brief = (None, None)  # the failure that the last brief dump is of, and its name
        self._full = (None, None)  # what the last full one is of, not the exception; its name
        self._is_slow = False  # a brief account took longer than it may

    def forget(self):
        """In a forked child."""
        self._brief = self._full = (None, None)

    def failed(self, oom):
        """A request has failed, as Ooms describes it. Called in the allocator."""
        recorder = self._recorder
        if recorder.ooms.count_at(oom["where"]) > BRIEF_MAX:
            return
        began = time.thread_time()  # waits for a busy processor do not count
        name = recorder.account("oom", failure=oom, where=oom["where"], stack=oom["stack"],
                                is_brief=True, why_no_holders=_TOO_SLOW if self._is_slow else None)
        self._is_slow = self._is_slow or time.thread_time() - began > BRIEF_SECONDS
        self._brief = (oom, name)

    def worded(self, oom):
        """Its exception has been made."""
        of, name = self._brief
        if of is oom and name is not None:
            self._recorder.amend(name, error=oom["text"])

    def ended(self, error, ends):
        """An out-of-memory error was not handled; the name of its full account.

        error  the exception with its traceback; None: it is gone, and what the frames held
        ends   True if the program ends by it
        """
        recorder = self._recorder
        oom = recorder.ooms.last()
        if oom is not None and error is not None and not _is_of(oom, error):
            oom = None  # another one has failed since
        identity = oom if oom is not None else (id(error), str(error))
        of, name = self._full
        if name is not None and (of is identity or oom is None and of == identity):
            recorder.amend(name, ends_program=ends)
            return name
        text = oom["text"] if oom is not None else None
        where, stack = recorder.place_of(error) if oom is None else (oom["where"], oom["stack"])
        name = recorder.account(
            "oom", error=text or (str(error) if error is not None else None), failure=oom,
            where=where, stack=stack, ends=ends, is_late=error is None or error.__traceback__ is None,
            name=self._brief[1] if oom is not None and self._brief[0] is oom else None)
        self._full = (identity, name)
        return name


def _is_of(oom, error):
    """True if an exception, or one that it comes of, is that of a failure: by its text, which
    wrappers of exceptions from other threads and processes repeat."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if oom["text"] is not None and oom["text"] in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
