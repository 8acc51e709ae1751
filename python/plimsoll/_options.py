"""The options of the commands as keyword arguments: each stands once, here, with its type.

A checker, help() and the refusal of unknown names all read these classes. An option that is a word
of Python has an underscore after it: `from_`.
"""

from __future__ import annotations

import difflib
import inspect
import os
from typing import (Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple, Type, TypedDict,
                    TypeVar, Union, get_type_hints)

Path = Union[str, "os.PathLike[str]"]
Size = Union[int, str]  # bytes, or as on a command line: "24GiB"
Words = Union[str, Iterable[str]]  # one, or several


class PageOptions(TypedDict, total=False):
    """What the page shows; the document has everything, whatever they are."""

    top: int
    width: int


class ExplainOptions(PageOptions, total=False):
    """Of explain(): docs/commands/explain.md."""

    all: bool
    trend: bool
    capacity: Size
    fail_on: Words


class InspectOptions(PageOptions, total=False):
    """Of inspect(): docs/commands/inspect.md."""

    at: str
    categories: bool
    never_freed: bool
    stack: str
    frames: int
    all_frames: bool
    full_paths: bool
    device: int


class DiagnoseOptions(PageOptions, total=False):
    """Of diagnose(): docs/commands/diagnose.md."""

    all: bool
    full_paths: bool
    device: int
    log: Union[Path, Iterable[Path]]
    message: Union[Path, Iterable[Path]]
    capacity: Size
    gpu: str
    rules: Path
    budget: Union[float, str]  # a number is seconds
    fail_on: Words


class ReplayedOptions(TypedDict, total=False):
    """Of replay() and tune()."""

    conf: Words
    capacity: Size
    gpu: str
    total: Size
    device: Union[int, str]
    from_: Union[int, str]
    to: Union[int, str]
    scale: Union[Words, Mapping[str, float]]
    costs: Union[Words, Mapping[str, Union[float, str]]]
    fail_on: Words
    width: int


class ReplayOptions(ReplayedOptions, total=False):
    """Of replay(): docs/commands/replay.md."""

    verify: bool
    quick: bool
    output: Path


class TuneOptions(ReplayedOptions, total=False):
    """Of tune(): docs/commands/tune.md."""

    only: bool
    policies: bool
    budget: Union[float, str]  # a number is seconds
    threads: int
    top: int


class RehearseOptions(TypedDict, total=False):
    """Of rehearse(), whatever it searches: docs/commands/rehearse.md."""

    gpu: str
    capacity: Size
    margin: Size
    devices: int
    steps: int
    accept: Words
    record: Path
    lock: Path
    check: Path
    with_: Words
    conf: str
    by: Size
    pre: bool
    offline: bool
    world_size: int
    rank: int
    values: Union[bool, int]
    late: bool
    trace_calls: bool
    python: Path
    no_retry: bool
    diagnose: bool
    all: bool
    width: int


class SearchOptions(RehearseOptions, total=False):
    """Those that make rehearse() return something else, too."""

    find_batch: bool
    sweep: Union[str, Sequence[int]]
    against: Path
    bisect: Tuple[str, str]


class FitOptions(TypedDict, total=False):
    """Of fit(): docs/commands/fit.md."""

    gpu: str
    capacity: Size
    margin: Size
    steps: int
    allow: str
    host_ram: Size
    budget: Union[float, str]  # a number is seconds
    only: Words
    also: Words
    find: str
    table: bool
    conf: str
    python: Path
    width: int


SIZES = {"capacity", "total", "margin", "by", "host_ram"}  # an integer is bytes
JOINED = {"fail_on", "accept", "sweep", "only"}  # several are one word, with commas

F = TypeVar("F", bound=Callable[..., Any])


def _types(options: type) -> Dict[str, str]:
    """Option → its type as it is written above."""
    return {name: getattr(hint, "__forward_arg__", str(hint))
            for name, hint in options.__annotations__.items()}


def takes(options: Type[Any]) -> Callable[[F], F]:
    """Shows the options of a function in help() and at a prompt."""
    def with_options(function: F) -> F:
        shown = inspect.signature(function)
        own = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None,
                                  annotation=kind)
                for name, kind in get_type_hints(options).items()]
        function.__signature__ = shown.replace(  # type: ignore[attr-defined]
            parameters=[*own, *more])
        return function

    return with_options


def words(function: str, options: Type[Any], given: Mapping[str, Any]) -> List[str]:
    """The options as words of a command line; an unknown one is a TypeError, as Python has it."""
    types = _types(options)
    found: List[str] = []
    for name, value in given.items():
        if name not in types:
            near = difflib.get_close_matches(name, types, 1)
            raise TypeError(f"{function}() has no option {name!r}"
                            + (f"; did you mean {near[0]!r}?" if near else ""))
        if value is True and "bool" not in types[name]:
            raise TypeError(f"{function}({name}=True): it takes {types[name]}")
        if value is not None and value is not False:
            found += _of(name, value)
    return found


def _of(name: str, value: Any) -> List[str]:
    option = "--" + name.rstrip("_").replace("_", "-")
    if value is True:
        return [option]
    if isinstance(value, Mapping):
        return [f"{option}={what}={factor}" for what, factor in value.items()]
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable):
        return [f"{option}={_text(name, value)}"]
    if name in JOINED:
        return [f"{option}=" + ",".join(str(one) for one in value)]
    return [f"{option}={_text(name, one)}" for one in value]


def _text(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if name in SIZES and isinstance(value, int):
        return f"{value}B"
    return str(value)
