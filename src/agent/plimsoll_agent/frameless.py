"""Watches a function without a frame of ours on the stack while it runs.

A wrapper in Python would stand in every traceback that comes through it, and in the stacks of
recordings. So a watched function is called by C alone: looking up __call__ of a Watched runs
`began` and gives a functools.partial for this one call, which CPython drops when the call is over,
whether it returned or raised; its end runs `ended`.
"""

import functools


def announced(function, announce):
    """In the place of a function that does not return, as sys.exit: announces each call.

    Called, the class that is returned runs `announce` in its making and the function, as its
    __init__, by C. Nothing of ours stands in the traceback of what the function raises.

    announce  takes the function's arguments, and raises nothing
    """

    def make(kind, *args, **kwargs):
        announce(*args, **kwargs)
        return object.__new__(kind)

    members = {"__new__": make, "__init__": staticmethod(function), "__doc__": function.__doc__}
    made = type(function.__name__, (), members)
    made.__module__ = function.__module__
    return made


class _Call(functools.partial):
    """The function, for one call."""

    def __del__(self):
        self.ended()


class Watched:
    """In the place of a function.

    began, ended  take nothing, and raise nothing
    """

    def __init__(self, function, began, ended):
        functools.update_wrapper(self, function)
        self._function = function
        self._began = began
        self._ended = ended

    @property
    def __call__(self):
        self._began()
        call = _Call(self._function)
        call.ended = self._ended
        return call
