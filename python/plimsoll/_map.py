"""plimsoll.map(): one function over many files, several at once (docs/python/many.md)."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import inspect
import os
import time
from typing import (Any, Callable, Deque, Dict, Generator, Generic, Iterable, Iterator, List, Mapping, Optional,
                    Protocol, Sized, TypeVar)

from plimsoll import _child, _progress
from plimsoll.errors import CommandError, UsageError

R = TypeVar("R")
Future = concurrent.futures.Future

AHEAD = 2  # files under way or waiting to be taken, for each worker
PATIENCE = 0.5  # seconds until progress is shown


@dataclasses.dataclass(frozen=True)
class Result(Generic[R]):
    """What came of one file.

    path   as it was given
    value  what the function returned; None where there is an error
    error  what the function raised, or why it has no answer
    """

    path: Any
    value: Optional[R]
    error: Optional[Exception]

    def get(self) -> R:
        """The value; raises the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]

    def to_rows(self, table: Optional[str] = None) -> List[Dict[str, Any]]:
        """See Map.to_rows()."""
        mine = {"path": _named(self.path)}
        if self.error is not None:
            return [{**mine, "error": str(self.error)}]
        value: Any = self.value
        if table is not None:
            return [{**mine, **row} for row in value.to_rows(table)]
        if not hasattr(value, "to_dict"):
            return [{**mine, "value": value}]
        return [{**mine, **{name: member for name, member in value.to_dict().items()
                            if not isinstance(member, (list, dict))}}]


def _named(path: Any) -> str:
    """A path in a row: a text; of several, their names with blanks between."""
    if isinstance(path, (list, tuple)):
        return " ".join(_named(one) for one in path)
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)


def work(function: Callable[..., R], path: Any, options: Mapping[str, Any]) -> Result[R]:
    """One file's result, wherever it is made."""
    try:
        return Result(path, function(path, **options), None)
    except Exception as error:
        return Result(path, None, error)


class Workers(Protocol):
    """Those who do the work.

    count  how many files they work on at once
    """

    count: int

    def submit(self, path: Any) -> Future[Result[Any]]: ...

    def close(self) -> None:
        """Ends what is under way; may be called twice."""


class Map(Generic[R]):
    """An iterator of results; closing it ends what is under way."""

    def __init__(self, workers: Workers, paths: Iterable[Any], in_order: bool,
                 progress: bool) -> None:
        total = len(paths) if isinstance(paths, Sized) else 0
        self._workers = workers
        self._results = self._run(iter(paths), in_order, _Shown(total) if progress else None)

    def __iter__(self) -> Iterator[Result[R]]:
        return self

    def __next__(self) -> Result[R]:
        return next(self._results)

    def __enter__(self) -> Map[R]:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends what is under way. There are no further results."""
        self._results.close()
        self._workers.close()

    def to_rows(self, table: Optional[str] = None) -> List[Dict[str, Any]]:
        """The results that are left as a list of dicts, each with `path`, and `error` of one that
        failed.

        table  one of the documents' tables, "devices"; None: a row for each file, of the members
               of its document that are texts and numbers
        """
        return [row for result in self for row in result.to_rows(table)]

    def to_frame(self, table: Optional[str] = None) -> Any:
        """The same as pandas.DataFrame."""
        from plimsoll.documents import _part

        return _part.frame(self.to_rows(table))

    def _run(self, paths: Iterator[Any], in_order: bool,
             shown: Optional[_Shown]) -> Generator[Result[R], None, None]:
        waiting: Deque[_Waiting] = collections.deque()
        try:
            while True:
                for path in paths:
                    waiting.append(_Waiting(path, self._workers.submit(path)))
                    if len(waiting) >= AHEAD * self._workers.count:
                        break
                if not waiting:
                    return
                one = _next(waiting, in_order, shown)
                waiting.remove(one)
                yield _checked(one)
        finally:
            self._workers.close()
            if shown is not None:
                shown.close()


class _Waiting:
    """A file under way."""

    def __init__(self, path: Any, future: Future[Result[Any]]) -> None:
        self.path = path
        self.future = future


def _next(waiting: Deque[_Waiting], in_order: bool, shown: Optional[_Shown]) -> _Waiting:
    """The first in order, or the first that is done; waits for it."""
    wanted = {waiting[0].future} if in_order else {one.future for one in waiting}
    while True:
        done, _rest = concurrent.futures.wait(wanted, PATIENCE if shown else None,
                                              concurrent.futures.FIRST_COMPLETED)
        if done:
            break
        assert shown is not None
        shown.wait()
    if shown is not None:
        shown.took()
    return next(one for one in waiting if one.future in done)


def _checked(one: _Waiting) -> Result[Any]:
    """The result. What no other file would fare better with is raised."""
    try:
        result = one.future.result()
    except Exception as error:  # a worker that was lost
        return Result(one.path, None, error)
    error_ = result.error
    if isinstance(error_, UsageError) or (isinstance(error_, CommandError)
                                          and error_.status is None):
        raise error_
    return result


class _Shown:
    """How many files are done, where there is a place to say so, while the caller waits."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._context = _progress.shown()
        self._reader: Optional[_progress.Reader] = None

    def wait(self) -> None:
        if self._reader is None:
            self._reader = self._context.__enter__()
        self._reader.take(b"%d %d files done\n" % (self._done, self._total))

    def took(self) -> None:
        self._done += 1
        if self._reader is not None:  # the caller may print
            self._reader.hide()

    def close(self) -> None:
        if self._reader is not None:
            self._context.__exit__(None, None, None)
            self._reader = None


def make(function: Callable[..., R], paths: Iterable[Any], processes: Optional[int],
         in_order: bool, on: str, threads: Optional[bool], progress: bool,
         options: Mapping[str, Any]) -> Map[R]:
    """See plimsoll.map()."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise UsageError(f"map() takes several paths; give [{os.fsdecode(paths)!r}] for one")
    if not callable(function):
        raise UsageError("map() takes a function first, then the paths")
    if processes is not None and processes < 1:
        raise UsageError(f"map() takes processes of at least 1, not {processes}")
    _check(function, options)
    return Map(_choose(function, processes, on, threads, options), paths, in_order, progress)


def _check(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Options that the function does not have are refused once, and not for each file."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of one that is not Python's it is not known
        return
    try:
        signature.bind(None, **options)
    except TypeError as error:
        raise TypeError(f"map() cannot call {getattr(function, '__name__', 'the function')}(path"
                        f"{''.join(f', {name}=' for name in options)}): {error}") from None


def _choose(function: Callable[..., Any], processes: Optional[int], on: str,
             threads: Optional[bool], options: Mapping[str, Any]) -> Workers:
    from plimsoll import _workers

    if on == "ray":
        from plimsoll import _ray

        return _ray.Ray(function, processes, options)
    if on != "local":
        raise UsageError(f"map() works on 'local' cores or on 'ray', not on {on!r}")
    count = processes or _workers.cores()
    if threads is None:
        threads = _workers.is_ours(function)
    kind = _workers.Threads if threads else _workers.Processes
    return kind(function, count, options)
