"""Failures of the agent itself: swallowed, and listed as warnings in the results."""

import functools

LINES_MAX = 50
LINE_CHARACTERS_MAX = 300


class Journal:
    """Lines for the user, each once."""

    def __init__(self):
        self.lines = []

    def note(self, line):
        """Adds a line, if it is a new one."""
        line = " ".join(str(line).split())[:LINE_CHARACTERS_MAX]
        if line not in self.lines and len(self.lines) < LINES_MAX:
            self.lines.append(line)

    def failed(self, what, error):
        self.note(f"the agent could not {what}: {type(error).__name__}: {error}")

    def guard(self, what):
        """For functions that the program calls without knowing: they fail in silence.

        Only Exception is caught: a KeyboardInterrupt that comes while we are at work is meant
        for the program.

        what  completes "the agent could not …"
        """

        def decorate(function):
            @functools.wraps(function)
            def guarded(*args, **kwargs):
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    self.failed(what, error)
                    return None

            return guarded

        return decorate

    def attempt(self, what, function, *args):
        """Calls a function now, under guard."""
        return self.guard(what)(function)(*args)
