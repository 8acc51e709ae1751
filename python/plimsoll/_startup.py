"""Executed by each start of a Python that `plimsoll enable` has armed (src/agent/enabling.py).

Not imported, because the first import of a Python lists the folders of sys.path, and its folder is
given as `folder`. Waits until torch is looked for, and costs nothing else.
"""

import os
import sys


class Waiting:
    """A finder that finds nothing itself."""

    def __init__(self):  # type: ignore[no-untyped-def]
        self.is_done = False

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name != "torch" or self.is_done:
            return None
        self.is_done = True
        count = len(sys.meta_path)
        from plimsoll import _arming

        _arming.arm_or_say()
        if len(sys.meta_path) == count:  # it was armed before, or cannot be
            return None
        sys.meta_path.remove(self)
        for finder in list(sys.meta_path):  # that of the recorder is the first now
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                return spec
        return None


# A program of `plimsoll run` or `plimsoll rehearse` has an agent already, unless its Python is
# isolated (-I) and reads no PYTHONPATH. Python reads .pth files of a virtual environment twice.
if "PLIMSOLL_REHEARSAL" not in os.environ and (
        "PLIMSOLL_RUN" not in os.environ or sys.flags.ignore_environment):
    if not any(type(one).__module__ == __name__ for one in sys.meta_path):
        sys.meta_path.insert(0, Waiting())  # type: ignore[no-untyped-call]
if folder not in sys.path:  # type: ignore[name-defined] # noqa: F821
    sys.path.append(folder)  # type: ignore[name-defined] # noqa: F821
