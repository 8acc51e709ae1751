"""What the search does with an object, by its type alone.

The type is the one that Python itself uses: `__class__`, which a program may define as it
likes, is not read.
"""

import collections
import types

SKIP = 0        # holds nothing
PLAIN = 1       # what the collector says it refers to
TENSOR = 2
STORAGE = 3
MODULE = 4      # torch.nn.Module
OPTIMIZER = 5
FUNCTION = 6
CLASS = 7
NODE = 8        # of an autograd graph
LIST = 9        # list, tuple
DICT = 10
SET = 11        # set, frozenset, deque: only an iterator goes through
FRAME = 12
PYMODULE = 13   # a Python module

_HAS_GC = 1 << 14
_OWN = __name__.partition(".")[0]
_NOTHING = (str, bytes, int, float, bool, complex, type(None), type(Ellipsis), range,
            types.CodeType, types.GetSetDescriptorType, types.MemberDescriptorType,
            types.WrapperDescriptorType, types.MethodDescriptorType,
            types.ClassMethodDescriptorType)


def mro_of(kind):
    """Of a class, without asking its metaclass."""
    return type.__dict__["__mro__"].__get__(kind)


def names_of(kind):
    """What a class defines itself: a read-only mapping."""
    return type.__dict__["__dict__"].__get__(kind)


def name_of(kind):
    """Of a class."""
    return type.__dict__["__name__"].__get__(kind)


class Kinds:
    """of: {type: one of the above}, filled by look()."""

    def __init__(self, tensors):
        self._tensors = tensors
        self.of = {kind: SKIP for kind in _NOTHING}

    def look(self, kind):
        """Of a type that is not known yet."""
        try:
            found = self._look(kind)
        except Exception:  # a class of an odd make
            found = SKIP
        self.of[kind] = found
        return found

    def _look(self, kind):
        tensors, bases = self._tensors, mro_of(kind)
        if str(names_of(kind).get("__module__")).startswith(_OWN):
            return SKIP
        if any(base in bases for base in tensors.classes):
            return SKIP if tensors.is_hollow(kind) else TENSOR
        for base, found in ((tensors.storage_class, STORAGE), (tensors.module_class, MODULE),
                            (tensors.optimizer_class, OPTIMIZER),
                            (tensors.function_class, NODE), (type, CLASS),
                            (types.ModuleType, PYMODULE)):
            if base is not None and base in bases:
                return found
        if any("next_functions" in names_of(base) and "_register_hook_dict" in names_of(base)
               for base in bases):
            return NODE
        if not type.__dict__["__flags__"].__get__(kind) & _HAS_GC:
            return SKIP
        for base, found in ((types.FunctionType, FUNCTION), (types.FrameType, FRAME),
                            (dict, DICT), (list, LIST), (tuple, LIST), (set, SET),
                            (frozenset, SET), (collections.deque, SET)):
            if base in bases:
                return found
        return PLAIN


def dict_of(thing, kind=None):
    """An instance's own dict, or None. Runs nothing of the program's."""
    for base in mro_of(kind or type(thing)):
        getter = names_of(base).get("__dict__")
        if getter is not None:
            if type(getter) is not types.GetSetDescriptorType:
                return None  # a property of the program's
            found = getter.__get__(thing)
            return found if type(found) is dict else None
    return None
