"""Plimsoll in a Python session: who holds the GPU's memory, and how to get it back.

    import plimsoll.auto     the recorder of `plimsoll run`, for this process
    %load_ext plimsoll       the same in IPython and Jupyter, and who holds what after a failure
    plimsoll.holders()       which objects hold the GPU's memory
    plimsoll.recover()       shows what can be dropped after a failure, drops it once confirmed
    plimsoll.dump()          writes an account of this moment into the folder of the run

Nothing is imported here until it is used. docs/notebooks.md shows all of it at work.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost each start of an enabled Python milliseconds
if TYPE_CHECKING:
    from typing import Any, Optional

    from plimsoll._found import Holdings
    from plimsoll._recovery import Recovery

__all__ = ["arm", "dump", "holders", "recover"]


def arm(output: Optional[str] = None) -> str:
    """Arms the recorder for this process; it begins with the first use of CUDA, or now.

    output   folder of the run; None: PLIMSOLL_OUTPUT, else a new one beside those of other runs
    returns  the folder; that of an earlier call, or of `plimsoll run`, where it is armed already
    """
    from plimsoll import _arming

    return _arming.arm(output)


def holders(seconds: float = 2.0) -> Holdings:
    """Searches for the objects that hold the GPU's memory.

    seconds  the longest that the search may take
    returns  shows itself as a table; `document` is holders/1 (docs/formats/holders-json.md)
    """
    from plimsoll import _found

    return _found.find(seconds)


def recover(*names: str, confirm: Optional[bool] = None) -> Recovery:
    """Gives back memory that nothing needs any more after a failure.

    Shows what would be dropped with its bytes, and drops it where that is confirmed: finished
    frames that tracebacks keep, outputs of cells, unreachable objects, the allocator's cache. A
    variable is never dropped unless it is named.

    names    drop these alone: "tracebacks", "outputs", "garbage", "cache", "Out[3]", or variables
             of the session; naming confirms
    confirm  True: drop all that is shown; False: show it alone; None: ask, where there is a
             terminal or a notebook to ask in
    """
    from plimsoll import _recovery

    return _recovery.recover(names, confirm)


def dump() -> Optional[str]:
    """Writes a dump into the folder of the run: figures, holders and PyTorch's snapshot.

    returns  the path of its document; None: the recorder is not armed, or CUDA is not in use
    """
    from plimsoll import _arming

    return _arming.dump()


def load_ipython_extension(shell: Any) -> None:
    """%load_ext plimsoll"""
    from plimsoll import _session

    _session.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """%unload_ext plimsoll; a recorder that has begun records on."""
    from plimsoll import _session

    _session.unload(shell)
