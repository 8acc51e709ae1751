"""What a test's mark asks: `@pytest.mark.gpu_memory(limit="2GiB", growth="0B/step", warmups=1)`."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, FrozenSet, Iterable, NamedTuple, Optional, Tuple

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B\s*\Z", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
STEPS = 3  # measured where a test's body is its step
_UNIT_ADVICE = 'give a size with its unit, as "2GiB", "512MiB" or "0B"'


class LimitError(ValueError):
    """An argument that is not one, in half a sentence."""


class Bound(NamedTuple):
    """A size, and the text that it was given as."""

    bytes: int
    text: str


class Growth(NamedTuple):
    """
    per  "step": the optimizer's steps, or the test's body where it makes too few of them;
         "run": the test's body
    """

    bytes: int
    per: str
    text: str


class Limits(NamedTuple):
    """Of one test; None: not limited.

    limit    of the peak
    growth   per step
    left     bytes that the test may leave
    warmups  steps that the growth is not measured over
    steps    how many it is measured over, where the test's body is run again for it
    counts   "own": the peak above what was allocated before the test; "all": with it
    filter_fn  is called with each Left; where it answers False, that is not counted
    given    names of the arguments that a mark has
    """

    limit: Optional[Bound] = None
    growth: Optional[Growth] = None
    left: Optional[Bound] = None
    warmups: int = 1
    steps: int = STEPS
    counts: str = "own"
    filter_fn: Optional[Callable[[Any], bool]] = None
    given: FrozenSet[str] = frozenset()


def size(given: Any) -> int:
    """Bytes of "2GiB"; KB, MB and GB are powers of two, as in every command."""
    found = _SIZE.match(given) if isinstance(given, str) else None
    if found is None or (found.group(3) and not found.group(2)):
        raise LimitError(_UNIT_ADVICE)
    return int(float(found.group(1)) * (1 << _UNITS[found.group(2).upper()]))


def _bound(given: Any) -> Bound:
    return Bound(size(given), str(given))


def _growth(given: Any) -> Growth:
    text, _, per = given.rpartition("/") if isinstance(given, str) else ("", "", "")
    if per.strip() not in ("step", "run"):
        raise LimitError('give a size per step or per run, as "0B/step" or "1MiB/run"')
    return Growth(size(text), per.strip(), given)


def _count(given: Any, least: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < least:
        raise LimitError(f"give a whole number from {least} on")
    return given


def _counts(given: Any) -> str:
    if given not in ("own", "all"):
        raise LimitError('give "own" or "all"')
    return str(given)


def _function(given: Any) -> Any:
    if not callable(given):
        raise LimitError("give a function")
    return given


_READERS: Dict[str, Callable[[Any], Any]] = {
    "limit": _bound,
    "growth": _growth,
    "left": _bound,
    "warmups": lambda given: _count(given, 0),
    "steps": lambda given: _count(given, 2),
    "counts": _counts,
    "filter_fn": _function,
}
_MAY_BE_NONE = ("limit", "growth", "left", "filter_fn")  # takes away what a class or module set


def _of_mark(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    if len(args) > 1:
        raise LimitError("only the limit goes without its name")
    if args and "limit" in kwargs:
        raise LimitError("the limit is given twice")
    given = {**({"limit": args[0]} if args else {}), **kwargs}
    found: Dict[str, Any] = {}
    for name, value in given.items():
        if name not in _READERS:
            raise LimitError(f"there is no argument {name}: there are {', '.join(_READERS)}")
        if value is None and name in _MAY_BE_NONE:
            found[name] = None
            continue
        try:
            found[name] = _READERS[name](value)
        except LimitError as error:
            raise LimitError(f"{name}={value!r}: {error}") from None
    return found


def of_marks(marks: Iterable[Any]) -> Optional[Limits]:
    """Of a test's marks, the closest first; the closest that names an argument decides it.

    returns  None: it has no mark
    errors   LimitError
    """
    found: Optional[Dict[str, Any]] = None
    for mark in marks:
        found = {**_of_mark(mark.args, mark.kwargs), **(found or {})}
    return None if found is None else Limits(**found, given=frozenset(found))
