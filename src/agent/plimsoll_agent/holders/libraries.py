"""Memory that libraries hold through PyTorch's allocator: it has no object in Python.

PyTorch gives cuBLAS a workspace for each handle and stream, and cuBLASLt another (PyTorch 2.11,
aten/src/ATen/cuda/CublasHandlePool.cpp). What is left of the live bytes is theirs where it is
exactly a sum of such workspaces; that is evidence by size, and the words say so.
"""

import os

KIB = 1024
OLDER = (4096 * 2 + 16 * 8) * KIB  # cuBLAS's before compute capability 9.0, ":4096:2:16:8"
NEWER = 4096 * 8 * KIB             # and since, ":4096:8"
LT = 1024 * KIB
COUNT_MAX = 16


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


def workspaces(size, environment=os.environ):
    """The words for so many bytes where they are workspaces to the byte; else None."""
    small = _lt(environment)
    for large in _sizes(environment):
        for count in range(1, COUNT_MAX + 1):
            rest = size - count * large
            if large > 0 and rest >= 0 and (
                    rest == 0 or (small > 0 and rest % small == 0 and rest // small <= count)):
                return "cuBLAS's workspaces, by their sizes"
    return None
