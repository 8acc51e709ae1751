"""Starts Plimsoll's agent in the Pythons of a program that is rehearsed or run.

The launcher puts this file's folder first in PYTHONPATH; Python imports `sitecustomize` on its
own, before the program. Whether or not an agent is wanted, the program then finds what it would
have found without us: a `sys.path` without this folder, its own `sitecustomize`, if it has one, and
no module that Python would not have imported by itself. The environment stays, because processes
that the program starts need it again.

Every Python that the program starts imports this file, Python 2 too: it has to be readable there.
"""

import os
import sys

_OLDEST = (3, 9)  # that the agent is written for
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _be_a_guest():
    """Leaves a wheel of another environment as it is: see guest.py."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(_FOLDER)))
    if not os.path.isdir(os.path.join(package, "_native")):
        return
    kept = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        import guest
    finally:
        sys.dont_write_bytecode = kept
    del sys.modules["guest"]
    if guest.is_guest(package):
        guest.enter(package)
        guest.forget(package, __spec__.cached if __spec__ else None)


def _start_agent():
    """Starts the agent in a rehearsal, the recorder in a run. Their failures stay here."""
    try:
        _be_a_guest()
        if os.environ.get("PLIMSOLL_REHEARSAL"):
            import plimsoll_agent

            plimsoll_agent.start(os.environ["PLIMSOLL_REHEARSAL"])
        if os.environ.get("PLIMSOLL_RUN"):
            from plimsoll_agent import blackbox

            blackbox.start(os.environ["PLIMSOLL_RUN"])
        if os.environ.get("PLIMSOLL_WITH"):
            from plimsoll_agent import switches

            switches.start(os.environ["PLIMSOLL_WITH"], os.environ["PLIMSOLL_WITH_FOLDER"])
    except Exception:  # the launcher sees that there are no results
        pass


def _leave_path():
    """Takes our folder out of sys.path; the agent's package is found through itself by now."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _FOLDER]


def _run_users_own():
    """Runs the next sitecustomize on sys.path in place of this one. Its errors are its own.

    Without one, this fails as the import of a module that is not there: site expects that, and
    this one leaves sys.modules.
    """
    if sys.version_info < (3,):
        imp = __import__("imp")
        del sys.modules["imp"]
        imp.load_module(__name__, *imp.find_module(__name__, sys.path))
        return
    import _frozen_importlib
    import _frozen_importlib_external

    spec = _frozen_importlib_external.PathFinder.find_spec(__name__, sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named %r" % __name__, name=__name__)
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules[__name__] = module
    spec.loader.exec_module(module)


if sys.version_info >= _OLDEST:
    _start_agent()
_leave_path()
if __name__ == "sitecustomize":
    _run_users_own()
