"""The judge of a figure over the steps: does it grow, surely and for as long as one can see?

The room trend of the library is the house's judge, with the whole series before it. Here the series
is still being made, nothing but Python is at hand, and a false alarm costs more than a late one. So
one rule, on minima of windows, argued in docs/design/run.md.

    values ──► windows of 1, 2, 4, 8 … values, of which the least is kept
               (evaluation, a batch that is long, garbage that waits: they only add)
           ──► a width is sure if its last 20 minima rise, none of them by a leap, and no slower
               than before, above all that ever was, to a share of the room that was left

Of exact figures of each step the first sentence may come earlier: steady.py.
"""

from plimsoll_agent.live.steady import Steady

WARM_UP = 5  # values: optimizer states, libraries' workspaces, first shapes
WINDOWS_KEPT = 40  # of a width
WINDOWS_MIN = 20  # that are looked at
RISING_SHARE_MIN = 0.9  # of them are above the one before
LEAP_SHARE_MAX = 0.25  # of the rise, by one window
LATER_SHARE_MIN = 0.85  # of the first half's rise, by the second
ONSET_SHARE_MIN = 0.25  # of the usual rise, by a window that belongs to the growth
ROOM_SHARE_MIN = 0.20  # of the bytes that were free: the rise, where blocks pile up too
ROOM_SHARE_MIN_OF_FEW = 0.35  # where they do not: a batch that gets longer looks like that
BLOCKS_SHARE_MIN = 0.75  # more blocks for so many windows: they pile up
HINT_SHARE = 0.5  # of the rise that is needed: growth is likely
WIDTHS_MAX = 24


class Found:
    """Growth.

    bytes_per_step
    since_step
    rise            bytes so far
    is_sure         False: it is steady, and may still be a cache that fills
    """

    def __init__(self, bytes_per_step, since_step, rise, is_sure=True):
        self.bytes_per_step = bytes_per_step
        self.since_step = since_step
        self.rise = rise
        self.is_sure = is_sure


class _Window:
    __slots__ = ("step", "bytes", "blocks")

    def __init__(self, step, count, blocks):
        self.step = step  # the first
        self.bytes = count
        self.blocks = blocks


class _Width:
    """Windows of one width."""

    def __init__(self):
        self.windows = []
        self.open = None  # the first half of the next width's window
        self.highest = 0  # of the windows that were dropped
        self.found = None
        self.share = 0.0  # of what makes growth sure

    def add(self, window):
        self.windows.append(window)
        if len(self.windows) > WINDOWS_KEPT:
            self.highest = max(self.highest, self.windows.pop(0).bytes)


def _merged(first, second):
    return _Window(first.step, min(first.bytes, second.bytes), min(first.blocks, second.blocks))


class Growth:
    """Of one figure.

    found     Found, or None: none is sure now
    is_near   half of what makes it sure is there
    """

    def __init__(self, capacity, is_exact=False):
        """
        capacity  bytes that the figure can reach
        is_exact  a value of each step is given: growth that is steady counts too
        """
        self._capacity = capacity
        self._steady = Steady(capacity) if is_exact else None
        self._seen = 0
        self._widths = [_Width()]
        self.found = None
        self.is_near = False

    def add(self, step, count, blocks):
        """The next value.

        count   bytes
        blocks  in which they lie
        """
        self._seen += 1
        if self._seen > WARM_UP:
            self._add(_Window(step, count, blocks))
        if self._steady is not None:
            self._steady.add(step, count, blocks)
            self.is_near = self.is_near or self._steady.is_near
            if self.found is None and self._steady.found is not None:
                self.found = Found(*self._steady.found, is_sure=False)

    def _add(self, window):
        for index in range(WIDTHS_MAX):
            if index == len(self._widths):
                self._widths.append(_Width())
            width = self._widths[index]
            width.add(window)
            self._judge(width)
            width.open, first = window if width.open is None else None, width.open
            if first is None:
                break
            window = _merged(first, window)
        self.found = next((width.found for width in reversed(self._widths) if width.found), None)
        self.is_near = any(width.share >= HINT_SHARE for width in self._widths)

    def _judge(self, width):
        """After a window has been added: it alone can have changed the answer."""
        windows = width.windows
        width.found, width.share = None, 0.0
        if len(windows) < WINDOWS_MIN or not _is_rising(windows[-WINDOWS_MIN:]):
            return
        since = _onset(windows)
        if not _goes_on(_rises(windows[since:])):
            return
        width.share = self._share_of_room(width, since)
        if width.share >= 1:
            width.found = Found(slope([(one.step, one.bytes) for one in windows[since:]]),
                                windows[since].step,
                                windows[-1].bytes - windows[since].bytes)

    def _share_of_room(self, width, since):
        """The rise, as a share of what makes growth sure; 0 where it is not above all before."""
        first, last = width.windows[since], width.windows[-1]
        before = max([width.highest, *(window.bytes for window in width.windows[:since])])
        if last.bytes <= before:
            return 0
        windows = len(width.windows) - since
        piles_up = last.blocks - first.blocks >= BLOCKS_SHARE_MIN * (windows - 1)
        needed = ROOM_SHARE_MIN if piles_up else ROOM_SHARE_MIN_OF_FEW
        room = max(self._capacity - first.bytes, 1)
        return (last.bytes - max(before, first.bytes)) / (needed * room)


def _is_rising(windows):
    """Steadily, without leaps, and no slower than before."""
    total = windows[-1].bytes - windows[0].bytes
    if total <= 0:
        return False
    rises = _rises(windows)
    return (sum(rise > 0 for rise in rises) >= RISING_SHARE_MIN * len(rises)
            and max(rises) <= LEAP_SHARE_MAX * total and _goes_on(rises))


def _goes_on(rises):
    """The second half has risen about as much as the first: what settles has not."""
    half = len(rises) // 2
    return sum(rises[-half:]) >= LATER_SHARE_MIN * sum(rises[:half])


def _rises(windows):
    return [after.bytes - before.bytes for before, after in zip(windows, windows[1:])]


def _onset(windows):
    """Index of the window in which the growth began, that goes on to the end."""
    at = len(windows) - WINDOWS_MIN
    usual = sorted(_rises(windows[at:]))[WINDOWS_MIN // 2]
    while at > 0 and windows[at].bytes - windows[at - 1].bytes >= ONSET_SHARE_MIN * usual:
        at -= 1
    return at


def slope(points):
    """Bytes per step: the median of the slopes between all pairs (Theil 1950, Sen 1968).

    points  [(step, bytes)]
    """
    slopes = sorted((second[1] - first[1]) / (second[0] - first[0])
                    for index, first in enumerate(points) for second in points[index + 1:]
                    if second[0] > first[0])
    return slopes[len(slopes) // 2] if slopes else 0.0
