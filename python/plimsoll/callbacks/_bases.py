"""A callback's class is a framework's from the moment that one is made."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any, Callable, Tuple


def made_of(plain: type, *modules: str, base: str) -> Any:
    """A new object of a class that derives from a framework's too.

    plain    our class, or one that derives from it
    modules  of the framework: all that are imported already, else the first that can be
    base     name of its class in them
    """
    bases = tuple(getattr(sys.modules[name], base) for name in modules if name in sys.modules)
    return object.__new__(_joined(plain, bases or (_first(modules, base),)))


def _first(modules: Tuple[str, ...], base: str) -> type:
    for name in modules:
        try:
            found: type = getattr(importlib.import_module(name), base)
            return found
        except ModuleNotFoundError as error:
            if error.name not in (name, name.partition(".")[0]):
                raise  # it is there, and something that it needs is not
    packages = " or ".join(name.partition(".")[0] for name in modules)
    raise ImportError(f"the callback needs {packages}: pip install {modules[0].partition('.')[0]}")


@functools.lru_cache(maxsize=None)
def _joined(plain: type, bases: Tuple[type, ...]) -> type:
    bases = tuple(base for base in bases if not issubclass(plain, base))
    return type(plain.__name__, (plain, *bases), {
        "__module__": plain.__module__, "__qualname__": plain.__qualname__,
        "__doc__": plain.__doc__, "_plain": plain}) if bases else plain


def quiet(event: Callable[..., None]) -> Callable[..., None]:
    """An event of a callback whose failure is not the training's."""

    @functools.wraps(event)
    def called(self: Any, *args: Any, **named: Any) -> None:
        try:
            event(self, *args, **named)
        except Exception as error:
            self.memory.failed(error)

    return called
