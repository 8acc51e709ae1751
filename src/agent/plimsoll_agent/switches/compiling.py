"""Models that torch.compile takes: which they are, and what of them can be recomputed in a graph."""

import dis
import sys

STORES = ("STORE_ATTR", "STORE_GLOBAL", "DELETE_ATTR")


def tracing_test(torch):
    """A function without arguments: is torch.compile tracing the code that calls it?"""
    return getattr(getattr(torch, "compiler", None), "is_compiling", bool)


def is_compiled(module):
    """This module itself, not one within it."""
    return "_orig_mod" in module._modules or \
        module.__dict__.get("_compiled_call_impl") is not None


def compiled_within(model):
    """The first module of a model that is compiled; None without one."""
    return next((module for module in model.modules() if is_compiled(module)), None)


def _stores(code):
    if any(instruction.opname in STORES for instruction in dis.get_instructions(code)):
        return True
    return any(_stores(one) for one in code.co_consts if hasattr(one, "co_code"))


def changes_state(block):
    """The name of a class in a block whose calls may change its state; None: no call does.

    PyTorch's operator for a region that is recomputed takes functions without side effects only.
    """
    for module in block.modules():
        kind = type(module)
        if any(buffer is not None for buffer in module._buffers.values()):
            return kind.__name__
        code = getattr(kind.forward, "__code__", None)
        if not kind.__module__.startswith("torch.nn.") and (code is None or _stores(code)):
            return kind.__name__
    return None


def breaks_at_checkpoints():
    """How often a graph was broken at a region that is recomputed."""
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is None:
        return 0
    return sum(count for reason, count in utils.counters["graph_break"].items()
               if "checkpoint" in str(reason).lower())
