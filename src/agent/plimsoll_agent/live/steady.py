"""The judge's second stage, for exact figures of each step: growth as steady as a leak's, after ten steps.

The windows of growth.py wait until a fifth of the room is gone, because they stop programs. One sentence
may come earlier, where each step leaves as much as the one before and in more blocks than the one
before: that is what a leak does and what warm-up, evaluation and batches of many lengths do not. A cache
that fills as evenly looks the same while it fills. Argued in docs/design/watching.md.
"""

FEW = 8  # rises of bytes that are alike
FEW_SPIKES_MAX = 3  # values among these that a later one lies below: evaluation, a long batch
ALIKE = 0.25  # a rise differs from the usual one by no more
MANY = 38  # rises of blocks that are alike, where bytes differ: batches of many lengths
LATER_SHARE = (0.5, 2.0)  # of the first half's rise, by the second
STEPS_TO_FULL_MAX = 100_000  # slower growth is not worth a sentence
STEPS_TO_DOUBLE_MAX = 1000  # unless the program is small: it is tried before it is made large
PACE_MIN_OF_SMALL = 16 << 10  # bytes a step; a scalar that is kept for the log takes 512
NEAR = 3  # rises that are alike: growth is likely


class _Value:
    __slots__ = ("step", "bytes", "blocks")

    def __init__(self, step, count, blocks):
        self.step = step
        self.bytes = count
        self.blocks = blocks


class Steady:
    """Of one figure.

    found    (bytes per step, the step before the first rise, bytes so far), or None
    is_near  the first of what makes it steady are there
    """

    def __init__(self, capacity):
        """
        capacity  bytes that the figure can reach
        """
        self._capacity = capacity
        self._values = []
        self._highest = 0  # that lasted for more than one value, among those that were dropped
        self._since = None  # the first value of the growth that goes on
        self.found = None
        self.is_near = False

    def add(self, step, count, blocks):
        """The next value: bytes at the end of a step, and the blocks in which they lie."""
        if self._values and step <= self._values[-1].step:
            self.__init__(self._capacity)  # a program that counts anew
        self._values.append(_Value(step, count, blocks))
        if len(self._values) > MANY + 1:
            self._highest = max(self._highest, _lasting(self._values[:2]))
            self._values.pop(0)
        growing = self._by_bytes(FEW) or self._by_blocks(MANY)
        self.is_near = bool(growing or self._by_bytes(NEAR) or self._by_blocks(MANY // 2))
        if growing is None:
            self.found = self._since = None
            return
        self._since = self._since or growing[0]
        last = growing[-1]
        self.found = ((last.bytes - growing[0].bytes) / (last.step - growing[0].step),
                      self._since.step, last.bytes - self._since.bytes)

    def _by_bytes(self, rises):
        """The last values, but for spikes, if each rises by as much as the others; else None."""
        kept = []
        for value in reversed(self._values[-(rises + 1 + FEW_SPIKES_MAX):]):
            if not kept or value.bytes < kept[0].bytes:
                kept.insert(0, value)
            if len(kept) == rises + 1:
                break
        if len(kept) <= rises or not self._matters(kept):
            return None
        paces = [_pace(pair, "bytes") for pair in zip(kept, kept[1:])]
        piles_up = all(_pace(pair, "blocks") >= 1 for pair in zip(kept, kept[1:]))
        return kept if piles_up and _are_alike(paces) else None

    def _by_blocks(self, rises):
        """The last values, if their blocks rise alike and their bytes as much late as early.

        Blocks alone do not show it: a logger keeps 512 bytes of each step.
        """
        values = self._values[-(rises + 1):]
        if len(values) <= rises or not self._matters(values):
            return None
        third = len(values) // 3  # by chance one is all above the other once in ten million times
        low, high = ([value.bytes for value in part] for part in (values[:third], values[-third:]))
        if max(low) >= min(high):
            return None
        paces = [_pace(pair, "blocks") for pair in zip(values, values[1:])]
        half = len(values) // 2
        early, late = (_pace(pair, "bytes") for pair in ((values[0], values[half]),
                                                         (values[half], values[-1])))
        is_even = LATER_SHARE[0] * early <= late <= LATER_SHARE[1] * early
        return values if min(paces) >= 1 and _are_alike(paces) and is_even else None

    def _matters(self, values):
        """True if the growth would fill the room some day, or is large for a small program, and is
        above all that was before."""
        first, last = values[0], values[-1]
        pairs = zip(self._values, self._values[1:])
        before = max([self._highest, *(_lasting(pair) for pair in pairs
                                       if pair[1].step <= first.step)])
        pace = _pace((first, last), "bytes")
        fills = pace * STEPS_TO_FULL_MAX >= self._capacity - first.bytes
        doubles = pace >= PACE_MIN_OF_SMALL and pace * STEPS_TO_DOUBLE_MAX >= first.bytes
        return last.bytes > max(before, first.bytes) and (fills or doubles)


def _lasting(pair):
    """Bytes that were there at the end of both: one value may be an evaluation's."""
    return min(value.bytes for value in pair)


def _pace(pair, figure):
    """The rise of a step."""
    before, after = pair
    return (getattr(after, figure) - getattr(before, figure)) / (after.step - before.step)


def _are_alike(paces):
    usual = sorted(paces)[len(paces) // 2]
    return max(abs(pace - usual) for pace in paces) <= ALIKE * usual
