"""Out-of-memory errors: the allocator's figures, the place, and the message as PyTorch says it.

The allocator calls its observers before it raises. The message is composed after that, so it is
taken from the exception when that is made, also where the program catches it.
"""

import sys

from plimsoll_agent.places import callers_frame

TOLD_MAX = 20
PLACES_MAX = 100


class Ooms:
    """All that happened: the first TOLD_MAX in full, all of them counted by place.

    course      a Course: gets to know of each, and says how far the program has got
    on_failure  called with the figures of each at the moment of failure, in the allocator
    on_text     called with them once more when their text is known
    """

    def __init__(self, torch, places, course, journal):
        self._torch = torch
        self._places = places
        self._course = course
        self._journal = journal
        self._told = []
        self._counts = {}  # {"train.py:55 main": failures there}
        self._last = None  # the last one
        self._progress_at_last = 0
        self.on_failure = None
        self.on_text = None

    def begin(self):
        """CUDA is there."""
        observe = self._journal.guard("note an out-of-memory error")(self._observe)
        self._torch._C._cuda_attach_out_of_memory_observer(observe)
        self._hear_texts(self.error_class())

    def forget(self):
        """In a forked child: the parent's failures are not its own."""
        self._told.clear()
        self._counts.clear()
        self._last = None

    def error_class(self):
        """PyTorch's exception."""
        return getattr(self._torch, "OutOfMemoryError", None) or self._torch.cuda.OutOfMemoryError

    def _hear_texts(self, error_class):
        """Records the text of each exception of a class when it is made."""
        made = error_class.__init__
        tell = self._journal.guard("note an error's text")(self._tell_text)

        def init(error, *args, **kwargs):
            made(error, *args, **kwargs)
            tell(error)

        error_class.__init__ = init

    def _tell_text(self, error):
        if self._last is None or self._last["text"] is not None:
            return
        self._last["text"] = str(error)
        if self.on_text is not None:
            self.on_text(self._last)

    def _observe(self, device, requested, total, free):
        frame = callers_frame()
        if frame is None:
            frame = sys._current_frames().get(self._course.backward_thread())
        stats = self._torch._C._cuda_memoryStats(device)
        where = self._places.name(self._places.users_frame(frame)) if frame is not None else "?"
        self._last = {
            "device": device,
            "step": self._course.step_now(),
            "phase": self._course.phase,
            "requested_bytes": requested,
            "device_total_bytes": total,
            "device_free_bytes": free,
            "allocated_bytes": stats["allocated_bytes"]["all"]["current"],
            "reserved_bytes": stats["reserved_bytes"]["all"]["current"],
            "text": None,
            "where": where,
            "stack": self._places.stack(frame),
        }
        if len(self._told) < TOLD_MAX:
            self._told.append(self._last)
        is_known = where in self._counts or len(self._counts) < PLACES_MAX
        counted = where if is_known else "elsewhere"
        self._counts[counted] = self._counts.get(counted, 0) + 1
        self._course.oom()
        self._progress_at_last = self._course.progress
        if self.on_failure is not None:
            self.on_failure(self._last)

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
        return self._last is not None and self._progress_at_last == self.progress()

    def progress(self):
        """Differs from what it was, once the program has got on."""
        return self._course.progress

    def last(self):
        """The figures of the last one, or None."""
        return self._last

    def count(self):
        """All of them, those that the program caught too."""
        return sum(self._counts.values())

    def count_at(self, where):
        """Those of one place."""
        return self._counts.get(where, 0)

    def as_result(self):
        """The first ones, as the results of a rehearsal have them."""
        return [{name: value for name, value in oom.items() if name != "where"}
                for oom in self._told]

    def places_as_result(self):
        """The most frequent first."""
        counts = sorted(self._counts.items(), key=lambda item: -item[1])
        return [{"where": where, "count": count} for where, count in counts]
