"""Out-of-memory errors: the allocator's figures, the place, and the message as PyTorch says it.

The allocator calls its observers before it raises. The message is composed after that, so it is
taken from the exception when that is made, also where the program catches it.
"""

import sys

from plimsoll_agent.places import callers_frame

TOLD_MAX = 20
PLACES_MAX = 100


class Ooms:
    """All that happened: the first TOLD_MAX in full, all of them counted by place."""

    def __init__(self, torch, places, phases, journal):
        self._torch = torch
        self._places = places
        self._phases = phases
        self._journal = journal
        self._told = []
        self._counts = {}  # {"train.py:55 main": failures there}
        self._last = None  # the last one
        self._progress_at_last = 0
        self.on_first = None  # called at the moment of the first, in the allocator

    def begin(self):
        """CUDA is there."""
        observe = self._journal.guard("note an out-of-memory error")(self._observe)
        self._torch._C._cuda_attach_out_of_memory_observer(observe)
        error = getattr(self._torch, "OutOfMemoryError", None)  # PyTorch 2.5 on
        self._hear_texts(error or self._torch.cuda.OutOfMemoryError)

    def _hear_texts(self, error_class):
        """Records the text of each exception of a class when it is made."""
        made = error_class.__init__
        tell = self._journal.guard("note an error's text")(self._tell_text)

        def init(error, *args, **kwargs):
            made(error, *args, **kwargs)
            tell(error)

        error_class.__init__ = init

    def _tell_text(self, error):
        if self._last is not None and self._last["text"] is None:
            self._last["text"] = str(error)

    def _observe(self, device, requested, total, free):
        frame = callers_frame()
        if frame is None:
            frame = sys._current_frames().get(self._phases.backward_thread())
        stats = self._torch._C._cuda_memoryStats(device)
        self._last = {
            "device": device,
            "step": self._phases.step_now(),
            "phase": self._phases.phase,
            "requested_bytes": requested,
            "device_total_bytes": total,
            "device_free_bytes": free,
            "allocated_bytes": stats["allocated_bytes"]["all"]["current"],
            "reserved_bytes": stats["reserved_bytes"]["all"]["current"],
            "text": None,
            "stack": self._places.stack(frame),
        }
        if len(self._told) < TOLD_MAX:
            self._told.append(self._last)
        where = self._places.name(self._places.users_frame(frame)) if frame is not None else "?"
        is_known = where in self._counts or len(self._counts) < PLACES_MAX
        where = where if is_known else "elsewhere"
        self._counts[where] = self._counts.get(where, 0) + 1
        self._progress_at_last = self._phases.progress
        self._phases.oom()
        if self.count() == 1 and self.on_first is not None:
            self.on_first()

    def is_one_in(self, error):
        """Whether an exception is one, or comes of one."""
        seen = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if "out of memory" in str(error) and isinstance(error, (RuntimeError, MemoryError)):
                return True
            error = error.__cause__ or error.__context__
        return False

    def was_last(self):
        """Whether nothing has got on since the last one."""
        return self._last is not None and self._progress_at_last == self._phases.progress

    def count(self):
        """All of them, those that the program caught too."""
        return sum(self._counts.values())

    def as_result(self):
        return [dict(oom) for oom in self._told]

    def places_as_result(self):
        """The most frequent first."""
        counts = sorted(self._counts.items(), key=lambda item: -item[1])
        return [{"where": where, "count": count} for where, count in counts]
