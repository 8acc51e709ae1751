"""A while in which no other thread of Python's comes between.

A list of all objects that the collector knows holds tuples that another thread is still building, and
CPython refuses to finish one of which there is a second reference: "SystemError: bad argument to
internal function" in the program (_PyTuple_Resize of CPython 3.9 to 3.14; a tuple of a generator). So
such a list may live only while no other thread gets its turn.
"""

import contextlib
import sys
import time

TURN_SECONDS = 0.5  # of ours; another thread that waits takes its turn after that


@contextlib.contextmanager
def alone():
    """Within it this thread keeps its turn, unless it waits for something by itself.

    Threads that wait now measure by the turns of before, until these have run out.
    """
    before = sys.getswitchinterval()
    if len(sys._current_frames()) < 2 or before >= TURN_SECONDS:
        yield
        return
    sys.setswitchinterval(TURN_SECONDS)
    try:
        time.sleep(2 * before)
        yield
    finally:
        sys.setswitchinterval(before)
