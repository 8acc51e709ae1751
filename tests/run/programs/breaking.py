"""Lets calls within the recorder fail: a test's own sitecustomize imports this after ours.

BREAK_AT   the number of the call that raises
BREAK_ALL  "1": every call from there on does
"""

import functools
import os
import pkgutil
import types

import plimsoll_agent
from plimsoll_agent import importing

PACKAGES = ("blackbox", "holders", "live")


class Breaking:
    """Counts calls."""

    def __init__(self, at, breaks_all):
        self.at = at
        self.breaks_all = breaks_all
        self.calls = 0

    def wrap(self, function):
        @functools.wraps(function)
        def broken(*args, **kwargs):
            self.calls += 1
            if self.calls == self.at or self.breaks_all and self.calls > self.at:
                raise RuntimeError(f"broken by a test in {function.__qualname__}")
            return function(*args, **kwargs)

        return broken

    def wrap_all(self, module, _seconds):
        """Functions and methods that a module defines."""
        for owner in [module, *(value for value in vars(module).values()
                                if isinstance(value, type) and value.__module__ == module.__name__)]:
            for name, value in list(vars(owner).items()):
                if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                    setattr(owner, name, self.wrap(value))
                elif isinstance(value, property) and value.fget is not None:
                    setattr(owner, name, property(self.wrap(value.fget), value.fset))


def modules():
    """Those of the recorder, which are not all imported yet."""
    for package in PACKAGES:
        folder = os.path.join(plimsoll_agent.__path__[0], package)
        for module in pkgutil.iter_modules([folder]):
            yield f"plimsoll_agent.{package}.{module.name}"


breaking = Breaking(int(os.environ["BREAK_AT"]), os.environ.get("BREAK_ALL") == "1")
for name in modules():
    importing.when_imported(name, breaking.wrap_all)
