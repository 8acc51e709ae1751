"""Plimsoll in Python: the commands as functions, and who holds the GPU's memory in a session.

    plimsoll.explain(text)   why memory ran out, by what programs print
    plimsoll.diagnose(path)  what happened in a recording, and what helps; inspect(), replay(),
                             tune(), rehearse() and fit() are the other commands (docs/python/functions.md)
    import plimsoll.auto     the recorder of `plimsoll run`, for this process
    %load_ext plimsoll       the same in IPython and Jupyter, and who holds what after a failure
    plimsoll.holders()       which objects hold the GPU's memory
    plimsoll.recover()       shows what can be dropped after a failure, drops it once confirmed
    plimsoll.dump()          writes an account of this moment into the folder of the run
    plimsoll.map(f, paths)   one of these functions over many files, on all cores or a Ray cluster
    plimsoll.record(path)    records a block of code
    plimsoll.watch()         memory of each step and phase of a program, and where it grows

Nothing is imported here until it is used. docs/notebooks.md shows all of it at work.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would cost each start of an enabled Python milliseconds
if TYPE_CHECKING:
    import os
    from typing import Any, Callable, Iterable, List, Optional, TypeVar, Union

    from plimsoll import documents, errors
    from plimsoll._found import Holdings
    from plimsoll._functions import diagnose, explain, fit, inspect, rehearse, replay, tune
    from plimsoll._map import Map
    from plimsoll._record import Record
    from plimsoll._recovery import Recovery
    from plimsoll._watch import Watch

    R = TypeVar("R")
else:

    def __getattr__(name: str) -> Any:
        """The functions with many options stand in a module of their own, once."""
        import importlib

        if name in ("documents", "errors"):
            return importlib.import_module(f"plimsoll.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module("plimsoll._functions"), name)


__all__ = ["arm", "diagnose", "documents", "dump", "errors", "explain", "fit", "holders",
           "inspect", "map", "record", "recover", "rehearse", "replay", "tune", "watch"]


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


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


def record(path: Union[str, os.PathLike[str]], events: Optional[int] = 100_000,
           holders: bool = True) -> Record:
    """Records a block of code: `with plimsoll.record("run.pickle") as r:` (docs/python/watching.md).

    The snapshot is PyTorch's own, with the events of the block; beside it run.holders.json has the
    objects that hold memory at its end. Both are written whole however the block ends.

    path     NAME.pickle or NAME.pickle.gz
    events   the last so many of each device are kept; None: all
    holders  looks for the objects too, for at most a second
    returns  a context; afterwards it has `path`, `inspect()` and `diagnose()`
    errors   UsageError: this path cannot be written
    """
    from plimsoll import _record

    return _record.Record(path, events, holders)


def watch(arm: bool = True, growth: bool = True, quiet: bool = False) -> Watch:
    """Watches the memory of a program that runs in steps (docs/python/watching.md).

    `watch.step()` ends a step and returns its figures, flat names for a log; `with
    watch.phase("forward"):` names a part of it. It never raises, and does nothing without CUDA.

    arm      arms the recorder too, so that an out-of-memory error leaves a dump
    growth   warns once, in `watch.warnings`, where memory grows with every step
    quiet    warnings are not written to stderr
    returns  a context too
    """
    from plimsoll import _watch

    return _watch.Watch(arm, growth, quiet)


def map(function: Callable[..., R], paths: Iterable[Any], processes: Optional[int] = None, *,
        in_order: bool = True, on: str = "local", threads: Optional[bool] = None,
        progress: bool = True, **options: Any) -> Map[R]:
    """Calls a function for each of many files, several at once (docs/python/many.md).

    function   one of this package, or one of yours that takes a path
    paths      any iterable, read as work goes on; an item may be a list, the ranks of a job
    processes  how many files are worked on at once; None: as many as there are cores
    in_order   results come in the order of the paths; False: as they are ready
    on         "local", or "ray": the cluster that ray.init() connected to
    threads    run the function in threads of this process; None: functions of this package, which
               start processes themselves; others run in Python processes of their own
    progress   show how many files are done, where there is a terminal or a notebook
    options    keyword arguments for each call
    returns    an iterator of results with `path`, `value` and `error`: a file that cannot be read
               does not end it; closing it ends what is under way
    """
    from plimsoll import _map

    return _map.make(function, paths, processes, in_order, on, threads, progress, options)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext plimsoll"""
    from plimsoll import _session

    _session.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """%unload_ext plimsoll; a recorder that has begun records on."""
    from plimsoll import _session

    _session.unload(shell)
