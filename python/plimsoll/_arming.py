"""Arms the recorder of `plimsoll run` for this process, without a launcher."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Optional

from plimsoll import _agent, _runs, _session


def arm(output: Optional[str] = None) -> str:
    """See plimsoll.arm()."""
    armed = _armed()
    if armed is not None:
        return armed
    folder = record(output)
    if not os.environ.get("PLIMSOLL_RUN"):
        atexit.register(_at_exit)
    _session.watch()
    return folder


def _armed() -> Optional[str]:
    """The folder of the run, where `plimsoll run` or an earlier call has armed the recorder."""
    _agent.load()
    from plimsoll_agent import blackbox

    folder: Optional[str] = blackbox.run_folder()
    return folder


def record(output: Optional[str] = None) -> str:
    """Arms the recorder as arm() does, for a program that says itself what comes of it."""
    armed = _armed()
    if armed is not None:
        return armed
    from plimsoll_agent import blackbox, importing

    # Of a Python that is isolated (-I), the launcher's sitecustomize is not run.
    folder = os.environ.get("PLIMSOLL_RUN")
    if not folder:
        folder = os.path.abspath(output or os.environ.get("PLIMSOLL_OUTPUT") or _runs.name_new())
        os.environ["PLIMSOLL_OUTPUT"] = folder  # its processes write into the same run
    made = folder

    def torch_is_there(torch: Any, _seconds: float) -> None:
        torch.cuda._lazy_call(lambda: _runs.make(made))

    importing.when_imported("torch", torch_is_there)
    blackbox.start(folder)
    return folder


def arm_or_say() -> None:
    """Where it cannot be armed the program runs on, and one line says so."""
    try:
        arm()
    except Exception as error:
        sys.stderr.write(f"plimsoll: nothing is recorded: {type(error).__name__}: {error}\n")


def recorder() -> Any:
    """The recorder of this process once CUDA is in use; else None."""
    _agent.load()
    from plimsoll_agent import blackbox

    found = blackbox.current()
    return found if found is not None and found.is_ready else None


def dump() -> Optional[str]:
    """See plimsoll.dump()."""
    found = recorder()
    if found is None:
        return None
    name = found.dump("request")
    return os.path.join(found.folder, f"{name}.json") if name else None


def _at_exit() -> None:
    """After the traceback of a program that died of memory: who held it, and the account's place."""
    try:
        from plimsoll import _after

        _after.say_at_exit(recorder())
    except Exception:  # never the program's problem
        pass
