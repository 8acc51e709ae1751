"""Loops whose end hangs on a value that was never computed: some of them never end here.

A pass is a read that decides whether the loop goes on. A loop is stopped when its sequence is
longer than the longest that its frame shows to be wanted, when memory grows for thousands of
passes (or far more than a bound in the frame), or when there were too many of them.
"""

GROWING_PASSES = 2048  # between two looks at memory, where no bound is seen
GROWING_LOOKS = 3  # so often in a row it grew
PASSES_MAX = 200_000  # of a loop that does not grow
SLACK = 64  # passes beyond twice a bound of passes

_LENGTHS = ("max_length", "max_len", "max_seq_len", "max_seq_length")
_PASSES = ("max_new_tokens", "max_tokens", "max_steps", "max_iter", "max_iters", "num_steps",
           "max_iterations", "n_steps", "num_iterations", "max_generated_tokens")
_TOKENS = ("input_ids", "tokens", "generated", "generated_ids", "idx", "ids", "sequences", "x",
           "output_ids", "decoder_input_ids")
_OWNERS = ("generation_config", "config", "args", "cfg", "self")


class Loop:
    """One place that decides about a loop.

    progress  of training when the count began: a loop that trains is for --steps to end
    passes    since then, and until memory was last looked at
    """

    def __init__(self, progress):
        self.progress = progress
        self.passes = 0
        self.looked_at = 0
        self.bytes = 0
        self.growths = 0


def _number(value):
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31
    return value if is_number else None


class Loops:
    """Looks after loops; ends the process where one does not end."""

    def __init__(self, variable, allocated_bytes, progress, places):
        """
        variable         a variable of a frame by name
        allocated_bytes  of all devices now
        progress         a number that grows with training
        """
        self._variable = variable
        self._allocated_bytes = allocated_bytes
        self._progress = progress
        self._places = places
        self._loops = {}
        self.stop = None  # called with a sentence

    def passed(self, key, frame, line):
        """A read has decided about the loop at a line of a frame."""
        loop = self._loops.get(key)
        if loop is None or loop.progress != self._progress():
            loop = self._loops[key] = Loop(self._progress())
        loop.passes += 1
        what = self._too_long(frame) or self._without_end(loop, frame)
        if what is not None and self.stop is not None:
            self.stop(f"The loop at {self._places.short(frame, line)} did not end: {what}. "
                      "Its end hangs on a value that was not computed.")

    def _without_end(self, loop, frame):
        """A description if it goes on and on, else None. Looks at memory now and then."""
        if (loop.passes - loop.looked_at) & SLACK - 1:
            return None
        bound = self._bound(frame, _PASSES)
        every = 2 * bound[1] + SLACK if bound else GROWING_PASSES
        if loop.passes - loop.looked_at < every:
            return None
        now = self._allocated_bytes()
        loop.growths = loop.growths + 1 if loop.looked_at and now > loop.bytes else 0
        loop.bytes, loop.looked_at = now, loop.passes
        if loop.growths >= GROWING_LOOKS:
            asked = f", where {bound[0]} is {bound[1]:,}" if bound else ""
            return f"memory grew for {loop.passes:,} passes{asked}"
        return f"{loop.passes:,} passes" if loop.passes >= PASSES_MAX else None

    def _bound(self, frame, names):
        """(name, number) of a bound that the frame shows, in a variable or what one holds."""
        for owner in (None, *_OWNERS):
            thing = self._variable(owner, frame) if owner else None
            if owner and thing is None:
                continue
            for name in names:
                value = thing.__dict__.get(name) if hasattr(thing, "__dict__") else \
                    self._variable(name, frame)
                if _number(value):
                    return name, value
        return None

    def _too_long(self, frame):
        """A description if a sequence of the frame's is longer than wanted, else None."""
        bound = self._bound(frame, _LENGTHS)
        for name in _TOKENS if bound else ():
            shape = getattr(self._variable(name, frame), "shape", None)
            if shape is not None and len(shape) == 2 and shape[1] > bound[1]:
                return f"{shape[1]:,} tokens, where {bound[0]} is {bound[1]:,}"
        return None
