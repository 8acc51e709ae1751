"""PyTorch's own history of memory events: started for the program, left to it if it wants it.

Only with --record. Where the program calls _record_memory_history itself, what was recorded for us
is dropped, that call is carried out as it is, and from there on its history is what it requested.
"""

import functools
import os
import pickle
import re

from plimsoll_agent.allocator import WITHOUT_TRACES
from plimsoll_agent.inductor import without_inductor

_calls_of_ours = [0]  # under way: a rehearsal's and a recorder's are not the program's
_begun = [0]  # histories of ours that have begun


class History:
    """Starts recording; writes snapshots."""

    def __init__(self, torch, entries, journal):
        self._torch = torch
        self._entries = entries
        self._journal = journal
        self._is_programs = False
        self._has_begun = False
        self._covered = []  # [(name, PyTorch's function, ours)]

    def cover(self):
        """Stands before PyTorch's functions, to know of the program's own calls."""
        for name in ("_cuda_record_memory_history", "_cuda_record_memory_history_legacy"):
            real = getattr(self._torch._C, name, None)
            if real is not None:
                ours = self._watched(real)
                self._covered.append((name, real, ours))
                setattr(self._torch._C, name, ours)

    def uncover(self):
        """Takes it back, where nothing stands before it by now."""
        for name, real, ours in self._covered:
            if getattr(self._torch._C, name) is ours:
                setattr(self._torch._C, name, real)
        self._covered = []

    def _watched(self, real):
        @functools.wraps(real)
        def record(*args, **kwargs):
            if _calls_of_ours[0] == 0:
                if self._has_begun and not self._is_programs:
                    self._clear()
                self._is_programs = True
                self._journal.note(
                    "the program calls _record_memory_history itself: the history is as it asked"
                )
            return real(*args, **kwargs)

        return record

    def is_programs(self):
        """Whether the program records, or has: what it finds is to be its own."""
        return self._is_programs

    def begin(self):
        """CUDA is there: records from the first allocation on, or from now where it was in use.

        What the program records by then stays its own.
        """
        if self.is_enabled() and _begun[0] == 0:
            self._is_programs = True
        if self._entries == 0 or self._is_programs:
            return
        self._has_begun = True
        _begun[0] += 1
        _calls_of_ours[0] += 1
        try:
            self._torch.cuda.memory._record_memory_history(
                enabled="all", context=self._context(), stacks="python", max_entries=self._entries
            )
        finally:
            _calls_of_ours[0] -= 1

    def is_recording(self):
        """Whether events are recorded for us."""
        return self._has_begun and not self._is_programs

    def restart(self):
        """Forgets the events so far, where they were recorded for this history alone.

        Blocks that are live keep the stacks of their allocation.
        """
        if self.is_recording() and _begun[0] == 1:
            self._clear()
            self.begin()

    def is_enabled(self):
        """Whether something records by now, the program's or ours."""
        return getattr(self._torch._C, "_cuda_isHistoryEnabled", bool)()

    def end(self):
        """Ends what begin() began, if another does not need it and the program has not taken it."""
        if self.is_recording():
            if _begun[0] == 1:
                self._clear()
            else:
                self._has_begun = False
                _begun[0] -= 1

    def _clear(self):
        """Takes back what was recorded for us: the program finds its own events alone."""
        self._has_begun = False
        _begun[0] -= 1
        _calls_of_ours[0] += 1
        try:
            self._torch.cuda.memory._record_memory_history(enabled=None)
        finally:
            _calls_of_ours[0] -= 1

    def _context(self):
        """Which events get stacks.

        In PyTorch 2.11 a free within non-reentrant checkpointing cannot take its stack: the
        program dies of "returned NULL without setting an exception". 2.15 is known to be mended.
        """
        release = tuple(int(part) for part in re.findall(r"\d+", self._torch.__version__)[:2])
        return "all" if release >= (2, 15) else "alloc"

    def snapshot(self):
        """PyTorch's snapshot of this moment, with the history."""
        with without_inductor(self._torch):
            return self._torch.cuda.memory._snapshot()

    def state(self):
        """The same without the history, in some milliseconds."""
        with without_inductor(self._torch):
            if not self.is_enabled():
                return self._torch.cuda.memory._snapshot()
            return self._torch._C._cuda_memorySnapshot(WITHOUT_TRACES)

    def write_snapshot(self, path):
        """Pickles a snapshot of this moment."""
        snapshot = self.snapshot()
        temporary = f"{path}.part"
        with open(temporary, "wb") as file:
            pickle.dump(snapshot, file, protocol=4)
        os.replace(temporary, path)
