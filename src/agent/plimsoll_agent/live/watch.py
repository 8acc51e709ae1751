"""Watches each device over the steps: where memory surely grows, one line says so.

Figures are those at the end of an optimizer's step, always the same place: what is allocated there
has outlived the step.
"""

from plimsoll_agent.live import page as pages
from plimsoll_agent.live.growth import Growth
from plimsoll_agent.live.lines import Lines, gained_most, holds_most

MIB = 1 << 20
GARBAGE_SECONDS = 0.5  # to look for garbage, once growth seems sure
GARBAGE_LOOKS_MAX = 3
GARBAGE_SHARE_MAX = 0.5  # of the rise
AGAIN = 1.5  # times as large the rise must be, after most of it was garbage
AGAIN_STEADY = 4  # where it is only steady
LOOKS_MAX = 10  # at what is allocated, where steadiness comes and goes
LOOK_AGAIN = 20  # steps for which it was gone

_said_early = set()  # devices of which a watch of exact figures has said it, in this process


class _Device:
    """What is known of one."""

    def __init__(self, index, capacity, is_exact):
        self.index = index
        self.capacity = capacity
        self.growth = Growth(capacity, is_exact)
        self.before = None  # what was allocated, when growth became likely
        self.looks_left = LOOKS_MAX if is_exact else 1
        self.away = LOOK_AGAIN  # steps since growth was last likely
        self.where = None
        self.holder = None  # of holders/1, in which most of what came lies
        self.is_said = False
        self.rise_min = 0  # a rise that is smaller is garbage for the most part
        self.full_at = None


class Watch:
    """Of all devices."""

    def __init__(self, recorder, say=None, is_exact=False):
        """
        recorder  or what has its torch, choice, journal and places
        say       gets the line; None: the recorder's
        is_exact  each step is seen: growth that is steady is said too, with what holds it
        """
        self._recorder = recorder
        self._is_exact = is_exact
        self._say_line = say or recorder.say
        self._lines = Lines(recorder.torch, recorder.places)
        self._devices = {}
        self._garbage_looks = GARBAGE_LOOKS_MAX

    def results(self):
        """As process.json has them."""
        return [{"device": device.index,
                 "bytes_per_step": round(device.growth.found.bytes_per_step),
                 "since_step": device.growth.found.since_step, "where": device.where,
                 "full_at_step": device.full_at}
                for device in self._devices.values()
                if device.is_said and device.growth.found is not None]

    def stepped(self, shown, steps):
        """A step has ended; a sentence, the first time that growth is sure.

        shown  the device's figures in the page, which get what is found
        """
        device = self._devices.get(shown.index)
        if device is None:
            device = self._devices[shown.index] = _Device(
                shown.index, self._capacity(shown), self._is_exact)
        shown.step_allocated = shown.allocated
        device.growth.add(steps, shown.allocated, shown.blocks)
        if device.growth.is_near:
            if device.away >= LOOK_AGAIN and device.looks_left > 0:
                device.looks_left -= 1
                device.before = self._look(device)
            device.away = 0
        else:
            device.away += 1
        is_new = not device.is_said and self._is_to_be_said(device)
        self._show(device, shown, steps)
        return self._say(device) if is_new else None

    def _look(self, device):
        return self._recorder.journal.attempt("look at lines", self._lines.look, device.index)

    def _is_to_be_said(self, device):
        """True where growth is there that is not garbage; finds who made it then."""
        found = device.growth.found
        if found is None or found.rise < device.rise_min:
            return False
        document = self._search()
        if document is None and not found.is_sure:
            return False  # it may be garbage
        if document is not None and _garbage(document) >= GARBAGE_SHARE_MAX * found.rise:
            device.rise_min = (AGAIN if found.is_sure else AGAIN_STEADY) * found.rise
            return False
        after = self._look(device)
        holder = holds_most(device.before, after, document) if self._is_exact else None
        device.is_said = True
        device.where = gained_most(device.before, after)
        device.holder = holder
        return True

    def _search(self):
        """holders/1 of this moment, for the garbage in it too; None where too many were made."""
        if self._garbage_looks == 0:
            return None
        self._garbage_looks -= 1
        from plimsoll_agent import holders

        return self._recorder.journal.attempt("look for garbage", holders.find,
                                              self._recorder.torch, GARBAGE_SECONDS)

    def _capacity(self, shown):
        """Bytes that PyTorch can reserve: contexts and other processes have their share."""
        cuda = self._recorder.torch.cuda
        capacity = self._recorder.choice.limit or shown.total
        free = None
        if not cuda.is_current_stream_capturing():
            free = self._recorder.journal.attempt("ask for free memory", cuda.mem_get_info,
                                                  shown.index)
        return min(capacity, shown.reserved + free[0]) if free else capacity

    def _show(self, device, shown, steps):
        """What is found, into the page's figures."""
        found = device.growth.found if device.is_said else None
        if found is None:
            shown.flags, shown.growth, shown.since_step, shown.full_at_step = 0, 0.0, 0, 0
            return
        # within a step more is allocated than at its end: the highest so far, if that is recent
        room = max(device.capacity - shown.peak_allocated, 0)
        device.full_at = steps + int(room / max(found.bytes_per_step, 1))
        shown.flags = pages.GROWS
        shown.growth = found.bytes_per_step
        shown.since_step = found.since_step
        shown.full_at_step = device.full_at

    def _say(self, device):
        """One line, unless the program's own watch has said it; and the same as a reason to stop."""
        found = device.growth.found
        at = f", at {device.where.rsplit(' ', 1)[0]}" if device.where else ""
        held = f", held by {device.holder['text']}" if device.holder else ""
        verb = "grows" if found.is_sure else "has grown by"
        sentence = (f"allocated memory of GPU {device.index} {verb} "
                    f"{found.bytes_per_step / MIB:.3g} MiB a step since step "
                    f"{found.since_step:,}{at}{held}")
        goes_on = "" if found.is_sure else ", if that goes on"
        if self._is_exact:
            _said_early.add(device.index)
        if self._is_exact or device.index not in _said_early:
            self._say_line(f"{sentence}; full at about step {device.full_at:,}{goes_on}")
        return sentence


def _garbage(document):
    """Bytes that one collection would give back, as far as they are known."""
    return document["garbage"]["bytes"] if document["garbage"] else 0
