"""Exceptions that nothing has caught, while the frames of their traceback are alive.

Where a program ends, the interpreter calls sys.excepthook, and no frame of the program's main
module is left below it; in a session (code.interact, for one) it runs on. The hook that was there
prints as ever, first; ours adds no line. A program that puts its own in our place may call ours or
not: at the end Endings finds the exception too.
"""

import sys
import threading

from plimsoll_agent.endings import is_interactive


def _is_at_its_end(frame):
    """True if the main thread has left the program. A hook of its own may have called ours."""
    while frame.f_back is not None:
        frame = frame.f_back
    is_running = frame.f_code.co_name in ("<module>", "_run_module_as_main")
    return threading.current_thread() is threading.main_thread() and not is_running


def watch(note):
    """From now on, calls note(error, True if the program ends by it) after it was printed."""
    shown = sys.excepthook

    def excepthook(kind, error, traceback, /):
        ends = _is_at_its_end(sys._getframe()) and not is_interactive()
        try:
            shown(kind, error, traceback)
        finally:
            note(error, ends)

    sys.excepthook = excepthook
