"""Models that are built on the CPU: what that costs is real here, in time and in memory.

On the device nothing is computed, so building there costs nothing. On the host every weight gets
its random number. Once a second a thread looks where the main thread is; when it has been seen
among the functions that initialise weights often enough, the user gets to know it: at once where
standard error is a terminal, and with the results in any case. The thread ends with the first
optimizer step. It is not one of Python's threading module: the program does not see it among its
own.
"""

import _thread
import os
import sys
import threading
import time

INTERVAL_SECONDS = 1.0
SECONDS_MIN = 5  # of building, before it is worth a word
FRAMES_MAX = 60
_FILE = os.path.join("torch", "nn", "init.py")
_NAMES = ("reset_parameters", "_init_weights", "_initialize_weights", "init_weights")
_INSTEAD = 'inside `with torch.device("cuda"):` it would take neither'


def _is_building(frame):
    """Whether a function that initialises weights is among the innermost frames."""
    for _ in range(FRAMES_MAX):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name in _NAMES or code.co_filename.endswith(_FILE):
            return True
        frame = frame.f_back
    return False


def _resident_bytes():
    """Memory of this process that no file stands for."""
    with open("/proc/self/statm", encoding="ascii") as file:
        _, resident, shared = (int(word) for word in file.read().split()[:3])
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


class Host:
    """Of one process."""

    def __init__(self, steps, journal):
        self._steps = steps
        self._journal = journal
        self._seconds = 0
        self._began_bytes = 0
        self._peak_bytes = 0
        self._has_said = False

    def watch(self):
        self._began_bytes = _resident_bytes()
        _thread.start_new_thread(self._journal.guard("watch the host")(self._look_now_and_then),
                                 (os.getpid(),))

    def _look_now_and_then(self, pid):
        while os.getpid() == pid and self._steps.done == 0:
            time.sleep(INTERVAL_SECONDS)
            self.look()

    def look(self):
        """Once a second: is it building now?"""
        main = sys._current_frames().get(threading.main_thread().ident)
        if not _is_building(main):
            return
        self._seconds += 1
        self._peak_bytes = max(self._peak_bytes, _resident_bytes() - self._began_bytes)
        if self._seconds == SECONDS_MIN and not self._has_said:
            self._has_said = True
            self._say()

    def _say(self):
        """Once, while it happens. One process speaks for all ranks."""
        if os.environ.get("LOCAL_RANK", "0") == "0" and os.isatty(2):
            os.write(2, f"plimsoll: the model is being built on the CPU, which takes real time "
                        f"and memory; {_INSTEAD}\r\n".encode())

    def as_lines(self):
        """For the results: a line, where it took long."""
        if self._seconds < SECONDS_MIN:
            return []
        return [f"the model was built on the CPU, which took {self._seconds} s and "
                f"{self._peak_bytes / 2**30:.2f} GiB of this machine; {_INSTEAD}"]
