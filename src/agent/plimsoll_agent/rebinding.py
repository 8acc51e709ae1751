"""Puts functions of ours in place of PyTorch's, wherever PyTorch has them by name already."""

import functools
import sys


def rebind(module, name, make):
    """Replaces module.name by make(what was there), in all of torch.distributed.

    Modules of the program are not touched: it had no chance to import torch.distributed yet. A
    name that this PyTorch does not have is left out.
    """
    original = getattr(module, name, None)
    if original is None:
        return
    replacement = functools.wraps(original)(make(original))
    for found in list(sys.modules.values()):
        path = getattr(found, "__name__", "")
        if path.startswith("torch.distributed") and getattr(found, name, None) is original:
            setattr(found, name, replacement)
