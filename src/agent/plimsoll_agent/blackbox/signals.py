"""SIGUSR1 leaves a dump, where the program has no handler for it.

The program finds the signal as it would without us: signal.getsignal() and what signal.signal()
returns say SIG_DFL (Lightning, for one, looks before it installs its own). A handler that it
installs replaces ours for good.
"""

import signal
import threading


class DumpSignal:
    """The handler, and its cover."""

    NUMBER = signal.SIGUSR1

    def __init__(self, dump):
        """
        dump  called in the main thread
        """
        self._dump = dump
        self._is_installed = False

    def install(self):
        """Only the main thread can; False where that, or the program, does not let it."""
        if threading.current_thread() is not threading.main_thread():
            return False
        if signal.getsignal(self.NUMBER) != signal.SIG_DFL:
            return False
        self._cover()
        signal.signal(self.NUMBER, self._received)
        self._is_installed = True
        return True

    def _cover(self):
        """What the module signal makes of a handler before it returns it."""
        named = signal._int_to_enum

        def _int_to_enum(value, names):
            return named(int(signal.SIG_DFL) if value == self._received else value, names)

        signal._int_to_enum = _int_to_enum

    def _received(self, number, frame):
        self._dump(frame)

    def forget(self):
        """In a forked child, which has nothing to dump: the signal does there what it always did."""
        import _signal

        if self._is_installed and _signal.getsignal(self.NUMBER) == self._received:
            signal.signal(self.NUMBER, signal.SIG_DFL)
        self._is_installed = False
