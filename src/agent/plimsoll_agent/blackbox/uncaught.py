"""Exceptions that nothing has caught, while the frames of their traceback are alive.

sys.excepthook is called by the interpreter with no frame below it where a program ends, and by
Python code, or in a session, where it goes on (code.interact, for one). The hook that was there
prints as ever, first; ours adds no line. A program that puts its own in our place may call ours or
not: at the end Endings finds the exception too.
"""

import sys

from plimsoll_agent.endings import is_interactive


def watch(note):
    """From now on, calls note(error, True if the program ends by it) after it was printed."""
    shown = sys.excepthook

    def excepthook(kind, error, traceback, /):
        ends = sys._getframe().f_back is None and not is_interactive()
        try:
            shown(kind, error, traceback)
        finally:
            note(error, ends)

    sys.excepthook = excepthook
