"""--limit: the process may take less of each device than there is.

PyTorch keeps to a share of a device (CUDACachingAllocator.cpp, setMemoryFraction) and fails beyond
it as on a smaller one. To set a share makes a context on the device, so a device gets its limit
when the process begins to use it. A program may set a share of its own: the smaller one holds,
since both say "at most".
"""

from plimsoll_agent.frameless import Watched


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

    def look(self):
        """Limits the devices that have come into use since."""
        if self._limit is None or self._set is None:
            return
        for index in range(self._torch.cuda.device_count()):
            if index not in self._done:
                stats = self._torch._C._cuda_memoryStats(index)
                if stats["reserved_bytes"]["all"]["peak"] > 0:
                    self._apply(index)

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
