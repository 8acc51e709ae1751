"""Where the program reads values from the device: rehearsed, they are not what they would be.

PyTorch warns of each operation that waits for the device, if asked to (its synchronization debug
mode); those that copy values to the host are reads. Copies to the device wait too; they differ
apart by what the line says. A program that sets the mode itself gets what it asked for.
"""

import functools
import sys

from plimsoll_agent import operations, silence
from plimsoll_agent.places import callers_frame

PLACES_MAX = 100
OFF, WARN = 0, 1
_SYNCHRONIZES = "called a synchronizing CUDA operation"
_PROTOTYPE = "Synchronization debug mode is a prototype"


class Reads:
    """Value reads by place."""

    def __init__(self, torch, places, phases, journal):
        self._torch = torch
        self._places = places
        self._phases = phases
        self._programs_mode = OFF
        self._set_mode = torch._C._cuda_set_sync_debug_mode
        self._known = {}  # {instructions: read or None}
        self._reads = {}  # {(where, what): read}
        self._hears_prototype = True
        self._hear_read = journal.guard("note a value read")(self._read)

    def begin(self):
        """CUDA is there. What the program asked of the mode before that, it gets."""
        core = self._torch._C
        self._programs_mode = core._cuda_get_sync_debug_mode()
        silence.listen((_SYNCHRONIZES, _PROTOTYPE), self._hear)
        if self._programs_mode == OFF:
            self._set_mode(WARN)
        self._hears_prototype = False

        @functools.wraps(self._set_mode)
        def set_mode(mode):
            self._set_mode(mode or WARN)
            self._programs_mode = mode

        core._cuda_set_sync_debug_mode = set_mode
        core._cuda_get_sync_debug_mode = lambda: self._programs_mode

    def _hear(self, text):
        """A warning comes. Returns whether the program would not have had it without us."""
        if text.startswith(_PROTOTYPE):
            return self._hears_prototype
        self._hear_read()
        return self._programs_mode == OFF

    def _read(self):
        inner = callers_frame()
        if inner is None:  # a thread of the engine's; its caller waits in backward
            inner = sys._current_frames().get(self._phases.backward_thread())
        if inner is None:
            return
        users = self._places.users_frame(inner)
        key = (inner.f_code, inner.f_lasti, users.f_code, users.f_lasti)
        if key not in self._known:
            self._known[key] = self._look_at(inner, users)
        read = self._known[key]
        if read is not None:
            read["count"] += 1

    def _look_at(self, inner, users):
        """What is read here for the first time; None if nothing is."""
        what = self._operation(inner, users)
        if what is None:
            return None
        where = self._places.name(users)
        read = self._reads.get((where, what))
        if read is None and len(self._reads) < PLACES_MAX:
            read = {"where": where, "what": what, "count": 0, "stack": self._places.stack(inner)}
            self._reads[where, what] = read
        return read

    def _operation(self, inner, users):
        """The read's name, or None for what reads nothing."""
        if inner.f_code.co_filename.endswith("_tensor_str.py"):
            return "print"
        operation = operations.of(inner)
        if operation.name in (operations.COPY_TO_DEVICE, "synchronize"):
            return None
        if operation.name == operations.COPY:
            to_host = operations.copies_to_host(operation, inner, self._torch)
            return operations.COPY_TO_HOST if to_host else None
        return operation.name

    def as_result(self):
        return [dict(read) for read in self._reads.values()]
