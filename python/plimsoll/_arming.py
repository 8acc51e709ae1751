"""Arms the recorder of `plimsoll run` for this process, without a launcher."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Optional

from plimsoll import _agent, _runs, _session


def arm(output: Optional[str] = None) -> str:
    """See plimsoll.arm()."""
    _agent.load()
    from plimsoll_agent import blackbox, importing

    armed = blackbox.run_folder()
    if armed is not None:  # by `plimsoll run`, or by an earlier call
        return str(armed)
    # Of a Python that is isolated (-I), the launcher's sitecustomize is not run.
    folder = os.environ.get("PLIMSOLL_RUN")
    if not folder:
        folder = os.path.abspath(output or os.environ.get("PLIMSOLL_OUTPUT") or _runs.name_new())
        os.environ["PLIMSOLL_OUTPUT"] = folder  # its processes write into the same run
        atexit.register(_at_exit)
    made = folder

    def torch_is_there(torch: Any, _seconds: float) -> None:
        torch.cuda._lazy_call(lambda: _runs.make(made))

    importing.when_imported("torch", torch_is_there)
    blackbox.start(folder)
    _session.watch()
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
    name = found.dump("request") if found is not None else None
    return os.path.join(found.folder, f"{name}.json") if name else None


def _at_exit() -> None:
    """After the traceback of a program that died of memory: who held it, and the account's place."""
    try:
        from plimsoll import _after

        _after.say_at_exit(recorder())
    except Exception:  # never the program's problem
        pass
