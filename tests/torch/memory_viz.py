"""memory_viz.py - where PyTorch's own tool for snapshots is, for tests that hold our files to it."""
import os
import pathlib


def find_memory_viz():
    """PLIM_MEMORY_VIZ, or that of PyTorch as tools/torch-python installs it; else None. Other releases,
    which users compared, may lie beside it."""
    named = os.environ.get("PLIM_MEMORY_VIZ")
    if named:
        return pathlib.Path(named)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    found = (cache / "plimsoll" / "torch").glob("*-2.11.0-*/lib/*/site-packages/torch/cuda/_memory_viz.py")
    return next(found, None)
