"""Where the program reads values from the device: rehearsed, they are not what they would be.

PyTorch warns of each operation that waits for the device, if asked to (its synchronization debug
mode); Python hears of it when the operation is done. The stand-in counts the copies that gave the
host values that were not computed: where their count has grown since the last warning, this was
such a read. Copies to the device, and reads of what the host itself put there, are not. A program
that sets the mode itself gets its own warnings.
"""

import contextlib
import ctypes
import functools
import sys

from plimsoll_agent import operations, silence
from plimsoll_agent.consequences import FRAMES_MAX, Consequences, Decision
from plimsoll_agent.loops import Loops
from plimsoll_agent.places import callers_frame

PLACES_MAX = 100
OFF, WARN = 0, 1
_SYNCHRONIZES = "called a synchronizing CUDA operation"
_PROTOTYPE = "Synchronization debug mode is a prototype"


def made_up_counter():
    """A function that returns how many reads gave made-up values so far."""
    try:
        counter = ctypes.PyDLL(None).plim_standin_made_up_values
    except AttributeError:  # no rehearsal: every read counts
        counts = iter(range(1 << 62))
        return lambda: next(counts)
    counter.restype = ctypes.c_uint64
    return counter


class Place:
    """A position in the program that waits for the device."""

    def __init__(self, read, decision):
        self.read = read
        self.decision = decision


@contextlib.contextmanager
def unwatched(torch):
    """While it lasts our mode warns of nothing.

    Functions that PyTorch has from C++ without a handler of Python's warnings print them: those of
    torch.distributed, of which none reads a value of the program's.
    """
    core = torch._C
    ours = core._cuda_set_sync_debug_mode
    real = getattr(ours, "__wrapped__", None)
    if real is None or core._cuda_get_sync_debug_mode() != OFF:
        yield
        return
    real(OFF)
    try:
        yield
    finally:
        real(WARN)
        ours.pass_over()


class Reads:
    """Value reads by place."""

    def __init__(self, torch, places, phases, journal):
        self._torch = torch
        self._places = places
        self._phases = phases
        self._programs_mode = OFF
        self._set_mode = torch._C._cuda_set_sync_debug_mode
        self._known = {}  # {instructions: Place}
        self._reads = {}  # {(where, what, why): read}
        self._hears_prototype = True
        self._hear_read = journal.guard("note a value read")(self._read)
        self._consequences = Consequences(torch, places)
        self.loops = Loops(operations.variable, self._allocated_bytes, self._progress, places)
        self._made_up = made_up_counter()
        self._made_up_before = 0

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

        set_mode.pass_over = self._pass_over
        core._cuda_set_sync_debug_mode = set_mode
        core._cuda_get_sync_debug_mode = lambda: self._programs_mode

    def _pass_over(self):
        """Reads so far are not those of the next warning."""
        self._made_up_before = self._made_up()

    def _allocated_bytes(self):
        count = self._torch.cuda.device_count()
        return sum(self._torch.cuda.memory_allocated(index) for index in range(count))

    def _progress(self):
        return self._phases.progress

    def _hear(self, text):
        """A warning comes. Returns whether the program would not have had it without us."""
        if text.startswith(_PROTOTYPE):
            return self._hears_prototype
        self._hear_read()
        return self._programs_mode == OFF

    def _read(self):
        before, self._made_up_before = self._made_up_before, self._made_up()
        if self._made_up_before == before:
            return
        inner = callers_frame()
        if inner is None:  # a thread of the engine's; its caller waits in backward
            inner = sys._current_frames().get(self._phases.backward_thread())
        if inner is None:
            return
        inner = self._consequences.working_frame(inner)
        users = self._places.users_frame(inner)
        key = _instructions(inner, users)
        if key not in self._known:
            self._known[key] = self._look_at(inner, users)
        place = self._known[key]
        if place.read is not None:
            place.read["count"] += 1
        if place.decision.depth >= 0:
            frame = inner
            for _ in range(place.decision.depth):
                frame = frame.f_back
            self.loops.passed(key, frame, place.decision.line)

    def _look_at(self, inner, users):
        """The place that is come to for the first time."""
        operation = self._consequences.operation(inner)
        if operation.name in operations.UPLOADS:
            return Place(None, Decision())
        decision = self._consequences.decide(inner, operation)
        where = self._places.name(users)
        why = decision.why
        if why is not None and decision.place != self._places.short(users):
            why = f"{why} ({decision.place})"
        key = where, operation.name, why
        read = self._reads.get(key)
        if read is None and len(self._reads) < PLACES_MAX:
            read = {"where": where, "what": operation.name, "why": why, "count": 0,
                    "stack": self._places.stack(inner)}
            self._reads[key] = read
        return Place(read, decision)

    def name_of(self, frame, line):
        """As `where` of a read has it, for a frame that has gone on to another line."""
        file, _, function = self._places.name(frame).rpartition(":")
        return f"{file}:{line} {function.partition(' ')[2]}"

    def as_result(self):
        return [dict(read) for read in self._reads.values()]


def _instructions(inner, users):
    """A key for a place: where the value may go to, and the user's own line."""
    key = [users.f_code, users.f_lasti]
    frame = inner
    for _ in range(FRAMES_MAX):
        if frame is None:
            break
        key += (frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return tuple(key)
