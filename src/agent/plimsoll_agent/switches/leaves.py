"""The tensors and numbers within a value, through containers."""

import collections.abc
import dataclasses

DEPTH_MAX = 6


def leaves(value, depth=0):
    """Of tuples, lists, mappings and dataclasses, in order."""
    if hasattr(value, "requires_grad") and hasattr(value, "shape"):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif depth < DEPTH_MAX:
        for one in _members(value):
            yield from leaves(one, depth + 1)


def _members(value):
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, collections.abc.Mapping):
        return list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()


def tensors_within(value):
    return [one for one in leaves(value) if hasattr(one, "shape")]
