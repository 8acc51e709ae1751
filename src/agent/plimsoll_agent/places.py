"""Where in the program something happened: Python frames as "train.py:41 forward"."""

import os
import sys
import sysconfig

FRAMES_MAX = 64
_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _package():
    """The folder of the package `plimsoll`: around us in a wheel, else beside us."""
    rehearse = os.path.dirname(os.path.dirname(_HERE))
    native = os.path.dirname(rehearse)
    if os.path.basename(native) == "_native":
        return os.path.dirname(native)
    return os.path.join(rehearse, "python", "plimsoll")


_OWN = (_HERE + os.sep, _package() + os.sep, os.path.realpath(_package()) + os.sep)


def is_own(code):
    """Plimsoll's, also where its package is reached by a link (Debian's dist-packages)."""
    name = code.co_filename
    return name.startswith(_OWN) or (
        os.sep + "plimsoll" + os.sep in name and os.path.realpath(name).startswith(_OWN))


class Places:
    """Names places, and distinguishes the user's code from others'."""

    def __init__(self, torch_file):
        self._torch = os.path.dirname(os.path.abspath(torch_file)) + os.sep
        self._library = (sysconfig.get_path("stdlib") or os.path.dirname(os.__file__)) + os.sep
        self._folder = os.getcwd() + os.sep  # a program may leave it later

    def is_torchs(self, code):
        return code.co_filename.startswith(self._torch)

    def is_users(self, code):
        """Neither PyTorch's, nor Python's, nor that of an installed package."""
        return self.is_users_file(code.co_filename)

    def is_users_file(self, name):
        """The same by the name of a file."""
        if name.startswith((self._torch, self._library, *_OWN, "<frozen")):
            return False
        return not any(part in name for part in _PACKAGES)

    def is_own(self, code):
        """Plimsoll's."""
        return is_own(code)

    def file(self, path):
        """As name() has it: relative to the folder that the program began in."""
        return path[len(self._folder):] if path.startswith(self._folder) else path

    def name(self, frame):
        """ "train.py:41 forward"; files of the folder that the program began in are relative."""
        return f"{self.file(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}"

    def short(self, frame, line=0):
        """ "transformers/generation/utils.py:3229": without the folder that packages lie in."""
        path = frame.f_code.co_filename
        for part in (*_PACKAGES, self._folder):
            if part in path:
                path = path[path.rindex(part) + len(part):]
        return f"{path}:{line or frame.f_lineno}"

    def stack(self, frame):
        """The names of a frame and its callers, innermost first, without our own."""
        names = []
        while frame is not None and len(names) < FRAMES_MAX:
            path = frame.f_code.co_filename
            if not path.startswith((*_OWN, "<frozen")):
                names.append(self.name(frame))
            frame = frame.f_back
        return names

    def users_frame(self, frame):
        """The innermost frame of the user's; else the innermost outside of PyTorch; else it."""
        outside = None
        innermost = frame
        while frame is not None:
            if self.is_users(frame.f_code):
                return frame
            own = frame.f_code.co_filename.startswith(_OWN)
            if outside is None and not own and not self.is_torchs(frame.f_code):
                outside = frame
            frame = frame.f_back
        return outside or innermost


def callers_frame():
    """The innermost frame of this thread that is not the agent's; None where there is none.

    Threads of PyTorch's engine call Python with no frame below.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return frame
