"""Frames that have finished and are kept: by tracebacks, by debuggers, by code that looked at them.

Their locals are what a failed call had in its hands. Nothing runs them again, so clearing them
takes nothing from the program but the values a debugger would show. Frames of suspended
generators look alike and are alive: CPython before 3.13 would close the generator.
"""

from __future__ import annotations

import gc
import types
from typing import Any, Iterable, Iterator, List, Set

_FRAME_OF = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, its causes, its contexts and the parts of a group, each once."""
    waiting: List[Any] = [error]
    seen: Set[int] = set()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def of_error(error: BaseException) -> Iterator[types.FrameType]:
    """The frames that an exception keeps."""
    for one in chain(error):
        trace = one.__traceback__
        while trace is not None:
            yield trace.tb_frame
            trace = trace.tb_next


def codes_of(error: BaseException) -> Set[types.CodeType]:
    """Of these frames."""
    return {frame.f_code for frame in of_error(error)}


def _ids_of_suspended(objects: Iterable[Any]) -> Set[int]:
    found = set()
    for one in objects:
        attribute = _FRAME_OF.get(type(one))
        if attribute is not None:
            found.add(id(getattr(one, attribute)))
    return found


def clear_finished(spared: Set[int]) -> int:
    """Clears the locals of finished frames.

    spared   ids of frames that stay as they are
    returns  how many were cleared
    """
    from plimsoll_agent.alone import alone

    with alone():
        objects = gc.get_objects()
        left = spared | _ids_of_suspended(objects)
        frames = [one for one in objects if type(one) is types.FrameType and id(one) not in left]
        del objects
    count = 0
    for frame in frames:
        try:
            frame.clear()
        except RuntimeError:  # it runs
            continue
        # Before Python 3.13 a frame whose f_locals was read once, as IPython's traceback does, has
        # a copy of its locals, which clear() leaves; reading it again takes out what is gone.
        _ = frame.f_locals
        count += 1
    return count
