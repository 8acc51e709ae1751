"""Snapshots without an import of Inductor.

For the frames of a stack PyTorch 2.11 asks torch._inductor for the code that it has generated
(torch/csrc/profiler/python/combined_traceback.cpp, py_symbolize), and the question imports it:
0.6 s and 110 MiB, in a program that compiles nothing. For the time of a snapshot the name leads
to a module without that member, and to Inductor itself where other code asks.
"""

import contextlib
import importlib
import sys
import types

_NAME = "torch._inductor"


class _Absent(types.ModuleType):
    """Inductor where it has not been imported: it has generated no code."""

    def __getattr__(self, name):
        if name == "codecache":
            raise AttributeError(name)
        return getattr(importlib.import_module(_NAME), name)


@contextlib.contextmanager
def without_inductor(torch):
    """Within it, a snapshot does not import Inductor."""
    if _NAME in sys.modules or "_inductor" in vars(torch):
        yield
        return
    absent = _Absent(_NAME)
    torch._inductor = absent
    try:
        yield
    finally:
        if vars(torch).get("_inductor") is absent:  # an import replaces it
            del torch._inductor
