"""What a frame of the program is doing at the moment: "item", "nonzero", "boolean mask" …

Python 3.11 and newer know the columns of the expression that an instruction belongs to; older
ones know its line, of which the first known word is taken.
"""

import ast
import dis
import inspect
import itertools
import linecache
import re

from plimsoll_agent import flow, trees

COPY_TO_HOST, TRUTH_VALUE, ITEM = "copy to host", "truth value", "item"
MASK, SLICE = "boolean mask", "slice"
# Take values to the device, or wait: never a read.
UPLOADS = frozenset(("cuda", "tensor", "as_tensor", "asarray", "synchronize", "Tensor"))

# The meaning of a called name; others keep their own name.
_CALLED = {
    "__bool__": TRUTH_VALUE,
    "bool": TRUTH_VALUE,
    "__float__": ITEM,
    "float": ITEM,
    "__int__": ITEM,
    "int": ITEM,
    "__index__": ITEM,
    "__getitem__": MASK,
    "__setitem__": MASK,
    "cpu": COPY_TO_HOST,
    "numpy": COPY_TO_HOST,
    "__array__": COPY_TO_HOST,
    "tolist": COPY_TO_HOST,
    "to": COPY_TO_HOST,
    "copy_": COPY_TO_HOST,
    "type": COPY_TO_HOST,
    "_to_copy": COPY_TO_HOST,
}
_WORDS = re.compile(
    r"\b(item|tolist|nonzero|masked_select|unique|cpu|numpy|cuda|to|copy_|as_tensor|tensor|equal"
    r"|allclose|float|int|bool)\s*\("
)


class Operation:
    """An operation of a frame.

    name      "item"
    node      its expression in the function's tree, where Python and its source know it
    function  the flow.Function that the expression belongs to
    """

    def __init__(self, name, node=None, function=None):
        self.name = name
        self.node = node
        self.function = function


def position_of(frame, is_branching=False):
    """(line, end line, column, end column) of the expression that a frame is at, or None.

    is_branching  of the one whose truth is wanted: a jump may have another's place, so that of
                  the instruction before it is taken
    """
    code = frame.f_code
    if not hasattr(code, "co_positions"):
        return None
    index = frame.f_lasti // 2
    if is_branching and index > 0:
        index -= 1
        while index > 0 and dis.opname[code.co_code[2 * index]] in ("CACHE", "COPY"):
            index -= 1
    place = next(itertools.islice(code.co_positions(), index, None), (None,))
    return None if None in place else place


def expression_of(frame, sources, is_branching=False):
    """(expression, function) that a frame is at; (None, None) where that is not known.

    A comprehension may be a frame of its own, and a lambda is: their trees are of what they lie in.
    """
    place = position_of(frame, is_branching)
    if place is None:
        return _expression_of_line(frame, sources)
    outer = frame
    while outer.f_code.co_name in flow.INNER and outer.f_back is not None \
            and outer.f_back.f_code.co_filename == frame.f_code.co_filename:
        outer = outer.f_back
    function = sources.of(outer.f_code, frame.f_globals)
    node = function.find(place) if function is not None else None
    return (node, function) if node is not None else (None, None)


def _expression_of_line(frame, sources):
    function = sources.of(frame.f_code, frame.f_globals)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    word = _WORDS.search(line)
    if function is None or word is None:
        return None, None
    calls = function.find_line(frame.f_lineno, (word.group(1),))
    return (calls[0], function) if calls else (None, None)


def _of_line(frame):
    """From the words of the line."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    word = _WORDS.search(line)
    if word:
        return _CALLED.get(word.group(1), word.group(1))
    return MASK if "[" in line else "value"


def _is_branching(frame):
    """True if the instruction asks for a truth value: if, while, not, and …"""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return "JUMP" in name or name in ("TO_BOOL", "UNARY_NOT")


def of(frame, sources):
    """The operation that a frame is at."""
    is_branching = _is_branching(frame)
    node, function = expression_of(frame, sources, is_branching)
    if is_branching:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node = node.operand
        return Operation(TRUTH_VALUE, node, function)
    if node is None:
        return Operation(_of_line(frame))
    if isinstance(node, ast.Call):
        name = trees.name_of(node) or "call"
        return Operation(_CALLED.get(name, name), node, function)
    if isinstance(node, ast.Subscript):
        return Operation(_of_subscript(node, frame), node, function)
    return Operation("value", node, function)


def _of_subscript(node, frame):
    """ "slice" where one ends at a tensor, "item" where the index plainly is one number."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    is_number = False
    for part in parts:
        if isinstance(part, ast.Slice):
            bounds = (part.lower, part.upper)
            if any(_is_tensor(value_of(bound, frame)) for bound in bounds if bound is not None):
                return SLICE
        else:
            dtype = str(getattr(value_of(part, frame), "dtype", ""))
            if "bool" in dtype or "uint8" in dtype:
                return MASK
            is_number = is_number or "int" in dtype
    return ITEM if is_number else MASK


def _is_tensor(value):
    return hasattr(value, "dtype")


_ASK_FOR_LOCALS = frozenset(("locals", "vars", "dir", "eval", "exec"))


def variable(name, frame):
    """The value of a variable, or None.

    Before Python 3.13 the locals of a function are copied into a dict that the frame keeps: what
    is in it would live on, tensors with it, after the function has let go of it. So it is
    emptied again, and not asked for where the function itself may hold it.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return frame.f_locals.get(name, frame.f_globals.get(name))
    if _ASK_FOR_LOCALS.intersection(frame.f_code.co_names):
        return frame.f_globals.get(name)
    variables = frame.f_locals
    found = variables.get(name, frame.f_globals.get(name))
    if isinstance(variables, dict):
        variables.clear()
    return found


def value_of(node, frame):
    """The value of a name or constant in a frame, or None. Never runs code of the program's."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return variable(node.id, frame)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = value_of(node.value, frame)
        return getattr(owner, "__dict__", {}).get(node.attr) if owner is not None else None
    return None
