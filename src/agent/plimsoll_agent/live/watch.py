"""Watches each device over the steps: where memory surely grows, one line says so.

Figures are those at the end of an optimizer's step, always the same place: what is allocated there
has outlived the step.
"""

from plimsoll_agent.live import page as pages
from plimsoll_agent.live.growth import Growth
from plimsoll_agent.live.lines import Lines, gained_most

MIB = 1 << 20
GARBAGE_SECONDS = 0.5  # to look for garbage, once growth seems sure
GARBAGE_LOOKS_MAX = 3
GARBAGE_SHARE_MAX = 0.5  # of the rise
AGAIN = 1.5  # times as large the rise must be, after most of it was garbage


class _Device:
    """What is known of one."""

    def __init__(self, index, capacity):
        self.index = index
        self.capacity = capacity
        self.growth = Growth(capacity)
        self.before = None  # what was allocated by line, when growth became likely
        self.has_looked = False
        self.where = None
        self.is_said = False
        self.rise_min = 0  # a rise that is smaller is garbage for the most part
        self.full_at = None


class Watch:
    """Of all devices."""

    def __init__(self, recorder):
        self._recorder = recorder
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
            device = self._devices[shown.index] = _Device(shown.index, self._capacity(shown))
        shown.step_allocated = shown.allocated
        device.growth.add(steps, shown.allocated, shown.blocks)
        attempt = self._recorder.journal.attempt
        if device.growth.is_near and not device.has_looked:
            device.has_looked = True
            device.before = attempt("look at lines", self._lines.look, device.index)
        is_new = not device.is_said and self._is_sure(device)
        if is_new:
            device.is_said = True
            after = attempt("look at lines", self._lines.look, device.index)
            device.where = gained_most(device.before, after)
        self._show(device, shown, steps)
        return self._say(device) if is_new else None

    def _capacity(self, shown):
        """Bytes that PyTorch can reserve: contexts and other processes have their share."""
        cuda = self._recorder.torch.cuda
        capacity = self._recorder.choice.limit or shown.total
        free = None
        if not cuda.is_current_stream_capturing():
            free = self._recorder.journal.attempt("ask for free memory", cuda.mem_get_info,
                                                  shown.index)
        return min(capacity, shown.reserved + free[0]) if free else capacity

    def _is_sure(self, device):
        """False where most of it is garbage, which the collector gives back some day."""
        found = device.growth.found
        if found is None or found.rise < device.rise_min:
            return False
        if self._garbage_looks > 0:
            self._garbage_looks -= 1
            if self._garbage() >= GARBAGE_SHARE_MAX * found.rise:
                device.rise_min = AGAIN * found.rise
                return False
        return True

    def _garbage(self):
        """Bytes that one collection would give back; 0 where that is not known."""
        def find():
            from plimsoll_agent import holders

            garbage = holders.find(self._recorder.torch, GARBAGE_SECONDS)["garbage"]
            return garbage["bytes"] if garbage else 0

        return self._recorder.journal.attempt("look for garbage", find) or 0

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
        """One line, and the same as a reason to stop."""
        found = device.growth.found
        at = f", at {device.where.rsplit(' ', 1)[0]}" if device.where else ""
        sentence = (f"allocated memory of GPU {device.index} grows "
                    f"{found.bytes_per_step / MIB:.3g} MiB a step since step "
                    f"{found.since_step:,}{at}")
        self._recorder.say(f"{sentence}; full at about step {device.full_at:,}")
        return sentence
