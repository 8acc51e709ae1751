"""Executed by each start of a Python that `plimsoll enable` has armed (src/agent/enabling.py).

Not imported, because the first import of a Python lists the folders of sys.path; the folder of the
package is given as `folder`. Waits until torch is looked for, and costs nothing else.
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


class Package:
    """Finds this package where nothing else does, and none of its neighbours in the folder."""

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name != "plimsoll":
            return None
        # A wheel of another environment is read, and left as it is: src/agent/guest.py.
        package = os.path.join(folder, name)  # type: ignore[name-defined] # noqa: F821
        script = os.path.join(package, "_native", "rehearse", "agent", "guest.py")
        if os.path.isfile(script):
            guest = {"__name__": __name__}
            with open(script, encoding="utf-8") as file:
                exec(file.read(), guest)
            if guest["is_guest"](package):  # type: ignore[operator]
                guest["enter"](package)  # type: ignore[operator]
                return guest["reader"](os.path.dirname(package)).find_spec(name)  # type: ignore[operator]
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [os.path.dirname(package)])


def is_there(kind):  # type: ignore[no-untyped-def]
    """Python reads .pth files of a virtual environment twice."""
    return any(type(one).__module__ == __name__ and type(one).__name__ == kind
               for one in sys.meta_path)


# A program of `plimsoll run` or `plimsoll rehearse` has an agent already, unless its Python is
# isolated (-I) and reads no PYTHONPATH.
if "PLIMSOLL_REHEARSAL" not in os.environ and (
        "PLIMSOLL_RUN" not in os.environ or sys.flags.ignore_environment):
    if not is_there("Waiting"):  # type: ignore[no-untyped-call]
        sys.meta_path.insert(0, Waiting())  # type: ignore[no-untyped-call]
if not is_there("Package"):  # type: ignore[no-untyped-call]
    sys.meta_path.append(Package())
