"""Workers of plimsoll.map() on a Ray cluster, to which the user has connected: ray.init()."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, Optional

from plimsoll._map import Future, Result, work
from plimsoll.errors import UsageError


class Ray:
    """A task for each file. Nodes find the file by its path, and plimsoll in their Python."""

    def __init__(self, function: Callable[..., Any], count: Optional[int],
                 options: Mapping[str, Any]) -> None:
        try:
            import ray
        except ImportError:
            raise UsageError("map(on='ray') needs Ray: pip install 'plimsoll[ray]'") from None
        if not ray.is_initialized():
            raise UsageError("map(on='ray') uses the cluster that you are connected to: call "
                             "ray.init() first")
        self.count = count or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._ray = ray
        self._task = ray.remote(work)
        self._function = function
        self._options = dict(options)
        self._under_way: Dict[Future[Result[Any]], Any] = {}

    def submit(self, path: Any) -> Future[Result[Any]]:
        reference = self._task.remote(_Placed(self._function, path), path, self._options)
        future: Future[Result[Any]] = reference.future()
        self._under_way[future] = reference
        future.add_done_callback(lambda one: self._under_way.pop(one, None))
        return future

    def close(self) -> None:
        for reference in list(self._under_way.values()):
            self._ray.cancel(reference)


class _Placed:
    """The function with the file's whole path, as a node works in another folder than this process."""

    def __init__(self, function: Callable[..., Any], path: Any) -> None:
        self._function = function
        self._path = _whole(path)

    def __call__(self, _path: Any, **options: Any) -> Any:
        return self._function(self._path, **options)


def _whole(path: Any) -> Any:
    if isinstance(path, (list, tuple)):
        return type(path)(_whole(one) for one in path)
    return os.path.abspath(path) if isinstance(path, (str, os.PathLike)) else path
