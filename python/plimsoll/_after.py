"""What is said after a failure: who holds the memory, and what can be done about it."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any, List, Optional

from plimsoll import _frames, _memory, _session

SHOWN = 5
SECONDS = 1.0
_ADVICE = "plimsoll.recover() shows what can be dropped, and drops it."

failures = _memory.failures


def is_out_of_memory(error: Optional[BaseException]) -> bool:
    """Whether an exception is PyTorch's for GPU memory, or comes of one."""
    if error is None:
        return False
    torch = sys.modules.get("torch")
    kind = getattr(torch, "OutOfMemoryError", None)  # PyTorch 2.5 on
    kind = kind or getattr(getattr(torch, "cuda", None), "OutOfMemoryError", None)
    for one in _frames.chain(error):
        if kind is not None and isinstance(one, kind):
            return True
        if isinstance(one, RuntimeError) and "CUDA out of memory" in str(one):
            return True
    return False


def lines() -> List[str]:
    """Who holds what, short."""
    from plimsoll import _found

    return _found.find(SECONDS).lines(SHOWN)


def say_after_cell() -> None:
    """Under the traceback of a cell."""
    print("\n".join([*lines(), _ADVICE]))


def say_after_prompt() -> None:
    """Under the traceback at Python's own prompt."""
    try:
        sys.stderr.write("\n".join([*lines(), _ADVICE, ""]))
    except Exception as error:  # never the session's problem
        sys.stderr.write(f"{cannot_words(error)}\n")


def cannot_words(error: Exception) -> str:
    return f"plimsoll: cannot say who holds the memory: {type(error).__name__}: {error}"


def late_words() -> Optional[str]:
    """Of a session that used CUDA before it was recorded."""
    from plimsoll import _found

    torch = _memory.torch_in_use()
    if torch is None:
        return None
    allocated = _memory.now(torch).allocated
    return ("CUDA was in use already: the recording begins now"
            + (f", and the {_found.size(allocated)} allocated before have no stack"
               if allocated else ""))


def say_at_exit(recorder: Any) -> None:
    """Under the traceback of a program that ended by it."""
    if recorder is None or os.environ.get("PLIMSOLL_QUIET") == "1" or _session.is_interactive():
        return
    if is_out_of_memory(getattr(sys, "last_value", None)):
        sys.stderr.write("\n".join([*lines(), _recorded_words(recorder.folder), ""]))


def _recorded_words(folder: str) -> str:
    """Where the account is, and what reads it."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".pickle"))
    if not names:
        return f"What was recorded is in {folder}"
    return f"The whole account: plimsoll diagnose {shlex.quote(os.path.join(folder, names[-1]))}"
