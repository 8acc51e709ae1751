"""What a frame of the program is doing at the moment: "item", "nonzero", "boolean mask" …

Python 3.11 and newer know the columns of the expression that an instruction belongs to; older
ones know its line, of which the first known word is taken.
"""

import ast
import dis
import inspect
import linecache
import re

COPY_TO_HOST, COPY_TO_DEVICE, COPY = "copy to host", "copy to device", "copy"

# The meaning of a called name; others keep their own name.
_CALLED = {
    "__bool__": "truth value",
    "bool": "truth value",
    "__float__": "item",
    "float": "item",
    "__int__": "item",
    "int": "item",
    "__index__": "item",
    "__getitem__": "boolean mask",
    "__setitem__": "boolean mask",
    "cpu": COPY_TO_HOST,
    "numpy": COPY_TO_HOST,
    "__array__": COPY_TO_HOST,
    "tolist": COPY_TO_HOST,
    "cuda": COPY_TO_DEVICE,
    "tensor": COPY_TO_DEVICE,
    "as_tensor": COPY_TO_DEVICE,
    "asarray": COPY_TO_DEVICE,
    "to": COPY,
    "copy_": COPY,
    "type": COPY,
    "_to_copy": COPY,
}
_WORDS = re.compile(
    r"\b(item|tolist|nonzero|masked_select|unique|cpu|numpy|cuda|to|copy_|as_tensor|tensor|equal"
    r"|allclose|float|int|bool)\s*\("
)


class Operation:
    """What is being done.

    name   "item"
    call   the call's syntax, where it is one and Python knows it
    """

    def __init__(self, name, call=None):
        self.name = name
        self.call = call


def _text_of(frame):
    """The source of the expression that a frame is at, or None."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for index, place in enumerate(positions()):
        if index == frame.f_lasti // 2:
            break
    else:
        return None
    line, end_line, column, end_column = place
    if None in place:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[line - 1:end_line]
    if not lines:
        return None
    pieces = [text.encode() for text in lines]  # columns count bytes
    pieces[-1] = pieces[-1][:end_column]
    pieces[0] = pieces[0][column:]
    return b"".join(pieces).decode(errors="replace")


def _called_name(node):
    function = node.func
    if isinstance(function, ast.Attribute):
        name = function.attr
    else:
        name = getattr(function, "id", "call")
    return _CALLED.get(name, name)


def _of_line(frame):
    """From the words of the line."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    word = _WORDS.search(line)
    if word:
        return Operation(_CALLED.get(word.group(1), word.group(1)))
    return Operation("boolean mask" if "[" in line else "value")


def _is_branching(frame):
    """Whether the instruction asks for a truth value: if, while, not, and …"""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return "JUMP" in name or name in ("TO_BOOL", "UNARY_NOT")


def of(frame):
    """The operation that a frame is at."""
    if _is_branching(frame):
        return Operation("truth value")
    text = _text_of(frame)
    if text is None:
        return _of_line(frame)
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return _of_line(frame)  # a statement
    if isinstance(node, ast.Call):
        return Operation(_called_name(node), node)
    return Operation("boolean mask" if isinstance(node, ast.Subscript) else "value")


_ASK_FOR_LOCALS = frozenset(("locals", "vars", "dir", "eval", "exec"))


def _variable(name, frame):
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


def _value(node, frame):
    """The value of a name or constant in a frame, or None. Never runs code of the program's."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _variable(node.id, frame)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = _value(node.value, frame)
        return getattr(owner, "__dict__", {}).get(node.attr) if owner is not None else None
    return None


def _device_kind(value, torch):
    """ "cpu" or "cuda" where a value names a device, else None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "cuda"
    if isinstance(value, (str, torch.device)):
        return str(value).split(":")[0]
    return value.device.type if isinstance(value, torch.Tensor) else None


def copies_to_host(operation, frame, torch):
    """Whether a copy leads to the host. True where nothing is known of it."""
    call = operation.call
    if call is None:
        return True
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    kind = _device_kind(_value(receiver, frame), torch) if receiver is not None else None
    if kind is not None:
        target = isinstance(call.func, ast.Attribute) and call.func.attr == "copy_"
        return (kind == "cpu") == target
    arguments = call.args + [word.value for word in call.keywords]
    kinds = [_device_kind(_value(argument, frame), torch) for argument in arguments]
    return "cuda" not in kinds
