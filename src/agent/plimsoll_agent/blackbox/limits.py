"""--limit: the process may take less of each device than there is.

PyTorch keeps to a share of a device (CUDACachingAllocator.cpp, setMemoryFraction) and fails beyond
it as on a smaller one. To set a share makes a context on the device, so a device gets its limit
when the process begins to use it; a thread looks for that. A program may set a share of its own:
the smaller one holds, since both say "at most".
"""

import _thread
import os
import time

from plimsoll_agent.frameless import Watched


LOOK_SECONDS = 0.05


class Limits:
    """Of one process."""

    def __init__(self, torch, limit, journal):
        self._torch = torch
        self._limit = limit
        self._journal = journal
        self._set = getattr(torch._C, "_cuda_setMemoryFraction", None)
        self._done = set()

    def cover(self):
        """Watches the program's own calls."""
        if self._limit is not None and self._set is not None:
            again = self._journal.guard("set the limit again")(self._again)
            self._torch._C._cuda_setMemoryFraction = Watched(self._set, lambda: None, again)

    def forget(self):
        """In a forked child."""
        self._done.clear()

    def begin(self):
        """CUDA is there: the current device first."""
        if self._limit is None:
            return
        if self._set is None:
            self._journal.note("--limit has no effect: this PyTorch has no memory fraction")
            return
        self._apply(self._torch.cuda.current_device())
        if self._torch.cuda.device_count() > 1:
            look = self._journal.guard("limit the other devices")(self._look_for_others)
            _thread.start_new_thread(look, (os.getpid(),))

    def _look_for_others(self, pid):
        """Limits each device as soon as it has come into use. In a thread of its own."""
        left = set(range(self._torch.cuda.device_count())) - self._done
        while left and os.getpid() == pid:
            time.sleep(LOOK_SECONDS)
            for index in sorted(left):
                stats = self._torch._C._cuda_memoryStats(index)
                if stats["reserved_bytes"]["all"]["peak"] > 0:
                    self._apply(index)
                    left.discard(index)

    def _apply(self, index):
        self._done.add(index)
        self._lower(index, 1.0)

    def _share(self, index):
        """None where the device has no more than the limit."""
        total = self._torch.cuda.get_device_properties(index).total_memory
        return self._limit / total if self._limit < total else None

    def _lower(self, index, now):
        share = self._share(index)
        if share is not None and share < now:
            with self._torch.cuda.device(index):  # PyTorch's function leaves it the current one
                self._set(share, index)

    def _again(self):
        """The program has set a share."""
        read = getattr(self._torch._C, "_cuda_getMemoryFraction", None)
        for index in sorted(self._done):
            if read is None:  # before PyTorch 2.7
                self._lower(index, 2.0)
            elif read(index) > (self._share(index) or 1.0):
                self._lower(index, read(index))
                self._journal.note("the program sets a memory fraction: the smaller of it and "
                                   "--limit holds")
