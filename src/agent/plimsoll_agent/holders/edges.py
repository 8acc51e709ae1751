"""How one object refers to another: labels of a way, worked out for the ways that are shown.

A label reads as in the program: `.cache`, `['x']`, `[3]`, `closure seen`. An edge that a reader
would not write (an instance to its own dict, a cell to what it holds) has the label "".
"""

import _thread
import functools
import gc
import itertools
import types
from collections import deque

from plimsoll_agent.holders import kinds

NAMESPACE_MAX = 32   # entries of a dict that is read as a set of names
SMALL_TUPLE = 8
LOOKED_MAX = 20_000  # elements of a container that labels are looked up among
LABEL_MAX = 80
DICTS_MAX = 512      # instances whose attributes are looked up by name, which makes them a dict

_SIMPLE = (str, int, float, bool, type(None))
_LOCAL = _thread._local
_CALLABLE = (types.FunctionType, types.MethodType, functools.partial)
_LRU = type(functools.lru_cache(lambda: None))


def key_label(key):
    """Of a key of a dict, where that has a form of its own."""
    kind = type(key)
    if kind in _SIMPLE or (kind is tuple and all(type(one) in _SIMPLE for one in key)):
        text = repr(key[:LABEL_MAX] if kind is str else key)
        return f"[{text[:LABEL_MAX]}]"
    return f"[{kinds.name_of(kind)}]"


def _of_function(function):
    """{id: label} of what a function's closure and default values are."""
    code = function.__code__
    found = {id(cell): f"closure {name}"
             for name, cell in zip(code.co_freevars, function.__closure__ or ())}
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values):code.co_argcount]
    found.update((id(value), f"default {name}") for name, value in zip(names, values))
    return found


def is_cache(thing):
    """Whether it is a function's cache."""
    return type(thing) is _LRU


class Edges:
    """Of one search."""

    def __init__(self, walk):
        self._walk = walk
        self._known = {}  # {(id of a container): {id of an element: label}}
        self._own = {}    # {node: is_own(node)}
        self._dicts = 0

    def is_element(self, node, child):
        """Whether a node's edge leads to one of many: an element of a list, a value of a dict."""
        parent = self._walk.objects[node]
        kind = self._walk.kind(parent)
        if type(child) in _CALLABLE:
            return False  # hooks: what they lead to has names of its own
        if kind == kinds.SET:
            return True
        if kind == kinds.DICT:
            return not (self.is_own(node) or self._is_namespace(parent, child))
        if kind == kinds.LIST:
            is_tuple = tuple in kinds.mro_of(type(parent))
            length = tuple.__len__(parent) if is_tuple else list.__len__(parent)
            if self._walk.kind(child) == kinds.TENSOR:
                return True
            return length > (SMALL_TUPLE if is_tuple else 1)
        return is_cache(parent)

    def is_own(self, node):
        """Whether a node is the dict in which an object, or a class, has its attributes."""
        own = self._own.get(node)
        if own is None:
            own = self._own[node] = self._look_own(node)
        return own

    def _look_own(self, node):
        thing, above = self._walk.objects[node], self._walk.parents[node]
        over = self._walk.objects[above] if above >= 0 else None
        if type(thing) is not dict or over is None:
            return False
        kind = self._walk.kind(over)
        if kind == kinds.CLASS:
            return True
        if kind == kinds.FUNCTION:
            return thing is not over.__kwdefaults__ and thing is not over.__annotations__
        if self._is_local(above) or self._is_local(self._walk.parents[above]):
            return True  # a thread's local names lie in a dict of threads
        if kind in (kinds.LIST, kinds.SET) or kinds.mro_of(type(over))[0] is dict:
            return False
        return kinds.dict_of(over) is thing

    def _is_local(self, node):
        thing = self._walk.objects[node] if node >= 0 else None
        return _LOCAL in kinds.mro_of(type(thing))

    def _is_namespace(self, names, child):
        """Whether a dict is read as names of things, like attributes."""
        count = dict.__len__(names)
        if self._walk.kind(child) == kinds.TENSOR or count > NAMESPACE_MAX:
            return False
        if count == 1:
            return True
        try:
            return all(type(key) is str for key in dict.keys(names))
        except RuntimeError:
            return False

    def label(self, node, child):
        """Of one edge."""
        parent = self._walk.objects[node]
        known = self._known.get(id(parent))
        if known is None:
            known = self._known[id(parent)] = self._labels(node, parent)
        label = known.get(id(child))
        if label is not None:
            return label
        return self._single(parent, child)

    def _labels(self, node, parent):
        """{id of an object: label} of the elements of a container."""
        kind = self._walk.kind(parent)
        try:
            if kind == kinds.DICT and self.is_own(node):
                return {id(value): f".{key}" if type(key) is str else ""
                        for key, value in list(dict.items(parent))}
            if kind == kinds.DICT:
                return {id(value): key_label(key) for key, value in
                        itertools.islice(dict.items(parent), LOOKED_MAX)}
            if kind == kinds.LIST:
                base = tuple if tuple in kinds.mro_of(type(parent)) else list
                return {id(value): f"[{index}]" for index, value in
                        enumerate(itertools.islice(base.__iter__(parent), LOOKED_MAX))}
            if kind == kinds.SET and deque in kinds.mro_of(type(parent)):
                return {id(value): f"[{index}]" for index, value in
                        enumerate(itertools.islice(deque.__iter__(parent), LOOKED_MAX))}
            if kind == kinds.FUNCTION:
                return _of_function(parent)
            if kind in (kinds.CLASS, kinds.TENSOR, kinds.MODULE, kinds.OPTIMIZER, kinds.PLAIN,
                        kinds.NODE):
                return self._attributes(parent, kind)
        except RuntimeError:  # it changed in another thread
            pass
        return {}

    def _attributes(self, parent, kind):
        found = {}
        if type(parent) in (types.GeneratorType, types.CoroutineType):
            return self._of_generator(parent)
        if type(parent) is types.MethodType:
            return {id(parent.__self__): ".__self__", id(parent.__func__): ""}
        if type(parent) is types.CellType:
            return {id(one): "" for one in gc.get_referents(parent)}
        if kind == kinds.CLASS:
            names = kinds.names_of(parent)
            own = [one for one in gc.get_referents(parent) if type(one) is dict]
            found = {id(one): "" for one in own}
            found.update((id(value), f".{name}") for name, value in names.items())
            return found
        for base in kinds.mro_of(type(parent)):
            for name, slot in kinds.names_of(base).items():
                if type(slot) is types.MemberDescriptorType:
                    try:
                        found.setdefault(id(slot.__get__(parent)), f".{name}")
                    except AttributeError:  # not set
                        pass
        if self._dicts < DICTS_MAX:
            self._dicts += 1
            own = kinds.dict_of(parent)
            if own is not None:
                found.update((id(value), f".{key}") for key, value in list(own.items())
                             if type(key) is str)
                found[id(own)] = ""
        return found

    def _of_generator(self, generator):
        is_plain = type(generator) is types.GeneratorType
        frame = generator.gi_frame if is_plain else generator.cr_frame
        if frame is None:
            return {}
        from plimsoll_agent.holders.roots import locals_of

        return {id(value): f"local {name}" for name, value in locals_of(frame)}

    def _single(self, parent, child):
        """Of an edge that no name is known for."""
        if type(parent) is dict or self._walk.kind(parent) == kinds.DICT:
            return "[key]"
        if self._walk.kind(parent) == kinds.SET:
            return "[element]"
        if is_cache(parent):
            return ""
        if type(child) is types.TracebackType:
            return "" if type(parent) is types.TracebackType else ".__traceback__"
        if type(child) is types.FrameType:
            return f"frame {child.f_code.co_name}"
        if type(parent) is types.FrameType:
            return self._of_frame(parent, child)
        if type(child) is types.CellType or type(parent) is types.CellType:
            return ""
        if type(child) is dict and self._walk.kind(parent) != kinds.DICT:
            return ""
        return f"(in {kinds.name_of(type(parent))})"

    def _of_frame(self, frame, child):
        from plimsoll_agent.holders.roots import locals_of

        known = self._known[id(frame)]
        known.update((id(value), f"local {name}") for name, value in locals_of(frame))
        return known.setdefault(id(child), "")
