"""The time that a search may take."""

import time


class Clock:
    """Says when it is up. Each part of a search may have a deadline of its own before the end."""

    def __init__(self, seconds):
        self.began = time.monotonic()
        self.end = self.began + max(seconds, 0.0)
        self.deadline = self.end

    def part(self, share):
        """From now on, a share of all the time counts; 1: all of it."""
        self.deadline = self.began + (self.end - self.began) * share

    def is_up(self):
        return time.monotonic() >= self.deadline

    def left(self):
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def seconds(self):
        """Since the search began."""
        return time.monotonic() - self.began
