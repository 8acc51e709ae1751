"""Is the second of the two results of a call dropped at once?

    out, _ = self.attention(x, x, x)        yes: stored in a name that is never read
    out = self.attention(x, x, x)[0]        yes
    out, weights = self.attention(x, x, x)  no, if weights is read
"""

import dis
import sys

from plimsoll_agent.places import is_own

_known = {}  # {(code, place in it): answer}


def _instructions(code):
    return [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG")]


def _is_dropped(code, at):
    """Of the call at an offset of a function's code."""
    instructions = _instructions(code)
    after = [one for one in instructions if one.offset > at]
    first = after[:2]
    if len(first) < 2:
        return False
    names = [one.opname for one in after[:3]]
    if names[0] == "UNPACK_SEQUENCE" and first[0].arg == 2 and names[1].startswith("STORE"):
        stored = [one.argval for one in after[1:3]]
        if names[1] == "STORE_FAST_STORE_FAST":  # of CPython 3.13, in one
            stored = list(first[1].argval)
        elif names[1:3] != ["STORE_FAST", "STORE_FAST"]:
            return False
        dropped = stored[1]
        return not any(one.opname.startswith(("LOAD_FAST", "LOAD_CLOSURE", "LOAD_DEREF"))
                       and dropped in (one.argval if isinstance(one.argval, tuple)
                                       else (one.argval,))
                       for one in instructions)
    is_zero = names[0] == "LOAD_CONST" and first[0].argval == 0
    is_small = names[0] == "LOAD_SMALL_INT" and first[0].arg == 0
    return (is_zero or is_small) and (names[1] == "BINARY_SUBSCR" or (
        names[1] == "BINARY_OP" and first[1].argrepr == "[]"))


def drops_weights():
    """Of the module that is being called: by the code of the innermost caller that is neither the
    agent's nor torch.nn.Module's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename.replace("\\", "/")
        if not is_own(frame.f_code) and not (name.endswith("torch/nn/modules/module.py")):
            break
        frame = frame.f_back
    if frame is None:
        return False
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        _known[key] = _is_dropped(*key)
    return _known[key]
