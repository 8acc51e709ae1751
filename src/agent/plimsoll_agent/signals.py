"""Handlers of signals that the program does not see.

Only where the program has no handler of its own; one that it installs later replaces ours. It finds
the signal as it would without us: signal.getsignal(), and what signal.signal() returns, say SIG_DFL
(Lightning, for one, looks before it installs its handlers).

Python runs handlers between two bytecodes of the main thread. One that waits for a device does not
get there, and a process that SIGTERM would have ended at once would stay. So a thread of ours
hears of signals too, through signal.set_wakeup_fd(), gives the main thread a second, and then does
what it should have done. Its descriptor is not seen by the program either (Trio warns of others').
"""

import _signal
import _thread
import fcntl
import os
import signal
import threading
import time

GRACE_SECONDS = 1.0  # for the main thread to get to a handler
DESCRIPTOR_MIN = 900

_handlers = {}  # {number: [callback]}
_deadly = set()  # numbers whose default action follows
_covered = []
_at_work = _thread.allocate_lock()  # held while a deadly signal's callbacks run
_pipe = [-1, -1]


def handle(number, callback, is_deadly=False):
    """Calls callback(frame) at a signal. False where the program, or the thread, does not allow it.

    is_deadly  the process ends by the signal afterwards, as it would have
    """
    if number not in _handlers:
        if threading.current_thread() is not threading.main_thread():
            return False
        if not _is_default(number):
            return False
        _cover()
        _handlers[number] = []
        signal.signal(number, _received)
    _handlers[number].append(callback)
    if is_deadly:
        _deadly.add(number)
        _listen()
    return True


def _is_default(number):
    """True if there is no handler: none of Python's, and none of C's (faulthandler.register())."""
    if _signal.getsignal(number) != _signal.SIG_DFL:
        return False
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            masks = [line.split()[1] for line in file if line.startswith(("SigCgt:", "SigIgn:"))]
    except OSError:
        return True
    return not any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def is_handled(number, callback):
    """True while handle() is in force. Any thread may ask."""
    return callback in _handlers.get(number, ()) and _signal.getsignal(number) is _received


def forget(number, callback):
    """In a forked child: takes a callback back. Without any the signal does what it always did."""
    _hang_up()
    callbacks = _handlers.get(number, [])
    if callback in callbacks:
        callbacks.remove(callback)
        if not callbacks:
            del _handlers[number]
            _deadly.discard(number)
            if _signal.getsignal(number) is _received:
                signal.signal(number, signal.SIG_DFL)


def _cover():
    """Covers what the module signal makes of a handler or descriptor before it returns it."""
    if _covered:
        return
    _covered.append(True)
    named, wakes = signal._int_to_enum, signal.set_wakeup_fd

    def _int_to_enum(value, names):
        return named(int(signal.SIG_DFL) if value is _received else value, names)

    def set_wakeup_fd(fd, /, *, warn_on_full_buffer=True):
        before = wakes(fd, warn_on_full_buffer=warn_on_full_buffer)
        return -1 if before == _pipe[1] else before

    signal._int_to_enum = _int_to_enum
    signal.set_wakeup_fd = set_wakeup_fd


def _received(number, frame):
    """In the main thread."""
    if number not in _deadly:
        _call(number, frame)
    elif _at_work.acquire(False):
        _call(number, frame)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    else:  # a thread of ours is about to end the process
        _at_work.acquire()


def _call(number, frame):
    for callback in list(_handlers.get(number, ())):
        callback(frame)


# ---- the thread ------------------------------------------------------------------------------------


def _listen():
    """Starts it, where the program does not listen by itself."""
    if _pipe[0] >= 0:
        return
    before = _signal.set_wakeup_fd(-1)
    if before != -1:
        _signal.set_wakeup_fd(before)
        return
    _pipe[:] = [_out_of_the_way(end) for end in os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)]
    os.set_blocking(_pipe[0], True)
    _signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
    _thread.start_new_thread(_hear, (_pipe[0],))


def _out_of_the_way(descriptor):
    """A number that the program's own files do not get, if it closes all that it does not know."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR_MIN)
    except OSError:  # so many are not allowed
        return descriptor
    os.close(descriptor)
    return moved


def _hang_up():
    """In a forked child: its signals are not the parent's."""
    if _pipe[0] < 0:
        return
    before = _signal.set_wakeup_fd(-1)
    if before not in (-1, _pipe[1]):
        _signal.set_wakeup_fd(before)  # the program's own
    for descriptor in _pipe:
        os.close(descriptor)
    _pipe[:] = [-1, -1]


def _hear(descriptor):
    while True:
        try:
            numbers = os.read(descriptor, 64)
        except OSError:
            return
        if not numbers:  # closed by the program
            return
        for number in set(numbers) & _deadly:
            _wait_for_main_thread(number)


def _wait_for_main_thread(number):
    """Does what it should have done, if it does not get there."""
    time.sleep(GRACE_SECONDS)
    if _signal.getsignal(number) is not _received or not _at_work.acquire(False):
        return
    import ctypes

    _call(number, None)
    ctypes.CDLL(None).signal(number, None)  # signal.signal() is for the main thread alone
    os.kill(os.getpid(), number)
