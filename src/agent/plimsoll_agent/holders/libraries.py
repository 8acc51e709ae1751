"""Memory that libraries hold through PyTorch's allocator: it has no object in Python.

PyTorch gives cuBLAS a workspace for each handle and stream, and cuBLASLt another (PyTorch 2.11,
aten/src/ATen/cuda/CublasHandlePool.cpp). What is left of the live bytes is theirs where it is
a sum of such workspaces, but for what blocks are larger than their requests; that is evidence by size,
and the words say so.
"""

import os

KIB = 1024
OLDER = (4096 * 2 + 16 * 8) * KIB  # cuBLAS's before compute capability 9.0, ":4096:2:16:8"
NEWER = 4096 * 8 * KIB             # and since, ":4096:8"
LT = 1024 * KIB
COUNT_MAX = 16
WORDS = "cuBLAS's workspaces, by their sizes"


def _sizes(environment):
    """Of cuBLAS's workspace, those that are possible."""
    given = environment.get("CUBLAS_WORKSPACE_CONFIG")
    if not given:
        return OLDER, NEWER
    try:
        numbers = [int(part) for part in given.split(":") if part]
        pairs = zip(numbers[::2], numbers[1::2])
        return (sum(size * count for size, count in pairs) * KIB,)
    except ValueError:
        return OLDER, NEWER


def _lt(environment):
    try:
        return int(environment.get("CUBLASLT_WORKSPACE_SIZE", LT // KIB)) * KIB
    except ValueError:
        return LT


def workspaces(size, slack=0, environment=os.environ):
    """Bytes of workspaces that make up so many, where they do; else 0.

    slack  so many of these may be rests of other blocks, which are larger than was requested
    """
    small = _lt(environment)
    for large in _sizes(environment):
        if 2 * slack >= large:
            continue
        for count in range(1, COUNT_MAX + 1):
            rest = size - count * large
            extra = min(max(rest, 0) // small, count) * small if small > 0 else 0
            if 0 <= rest - extra <= slack:
                return count * large + extra
    return 0
