"""Where a search begins: running functions, exceptions, modules, a notebook.

Functions come first, the outermost before those that it called: a model has its name in main(),
where a layer deep within it is only `self`.
"""

import inspect
import re
import sys
import types

from plimsoll_agent.holders import kinds
from plimsoll_agent.holders.walk import Root

FRAMES_MAX = 2000
EXCEPTIONS_MAX = 20
_OUTPUT = re.compile(r"_+|_\d+|_i+|_oh|Out")
_LAST = ("last_exc", "last_value", "last_traceback")
_HAS_PROXIES = sys.version_info >= (3, 13)


class Frame:
    """A function that runs, or that an exception ended."""

    __slots__ = ("frame", "line", "note", "kind")

    def __init__(self, frame, line, kind="local", note=None):
        self.frame = frame
        self.line = line
        self.kind = kind
        self.note = note


def locals_of(frame):
    """[(name, value)] of a frame, which is left as it was.

    Before Python 3.13, f_locals of a function is a dict that stays with the frame and keeps what
    stood in it; it is emptied where no other object has it and nothing traces the frame. A module's
    is the module's own.
    """
    names = frame.f_locals
    is_own = type(names) is dict
    found = list(dict.items(names)) if is_own else list(names.items())
    is_copy = is_own and not _HAS_PROXIES and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if is_copy and frame.f_trace is None and sys.gettrace() is None:
        if sys.getrefcount(names) <= 3:  # the frame's, ours, and the one of this call
            names.clear()
    return found


def running(places):
    """[Frame] of all threads, each thread's outermost first; frames of ours are left out."""
    found = []
    for innermost in list(sys._current_frames().values()):
        frame, stack = innermost, []
        while frame is not None and len(stack) < FRAMES_MAX:
            if not places.is_own(frame.f_code):
                stack.append(Frame(frame, frame.f_lineno))
            frame = frame.f_back
        found.extend(reversed(stack))
    return found


def _traceback_of(error):
    return BaseException.__dict__["__traceback__"].__get__(error)


def _chain(error):
    """An exception and those that it came from."""
    seen, chain = set(), []
    while is_exception(error) and id(error) not in seen and (
            len(chain) < EXCEPTIONS_MAX):
        seen.add(id(error))
        chain.append(error)
        cause = BaseException.__dict__["__cause__"].__get__(error)
        context = BaseException.__dict__["__context__"].__get__(error)
        error = context if cause is None else cause
    return chain


def is_exception(thing):
    """By its type, which no program's method hides."""
    return BaseException in kinds.mro_of(type(thing))


def of_traceback(traceback, kind, note):
    """[Frame] of one, outermost first."""
    found = []
    while type(traceback) is types.TracebackType and len(found) < FRAMES_MAX:
        found.append(Frame(traceback.tb_frame, traceback.tb_lineno, kind, note))
        traceback = traceback.tb_next
    return found


def is_interactive():
    """Whether a person goes on after an exception: a prompt, or a notebook."""
    return hasattr(sys, "ps1") or "get_ipython" in vars(sys.modules.get("builtins")) or (
        "IPython" in sys.modules and notebook_names() is not None)


def notebook_names():
    """The namespace of a notebook's cells, or None."""
    shell = sys.modules.get("IPython.core.interactiveshell")
    shell_class = getattr(shell, "InteractiveShell", None)
    instance = getattr(shell_class, "_instance", None)
    names = (kinds.dict_of(instance) or {}) if instance is not None else {}
    values = names.get("_trait_values")
    for one in (names, values if type(values) is dict else {}):
        for name in ("user_ns", "_user_ns"):  # a trait; since IPython 9 a property over a dict
            found = one.get(name)
            if found is not None and dict in kinds.mro_of(type(found)):
                return found
    return None


def of_exceptions():
    """[Frame] of the last exception and of those that are being handled.

    Where a person goes on, what the last exception holds is held by it alone: "traceback". Where
    the program ends by it, its functions' locals are what they were.
    """
    found, seen = [], set()

    def add(error, kind, note):
        for one in reversed(_chain(error)):
            if id(one) not in seen:
                seen.add(id(one))
                found.extend(of_traceback(_traceback_of(one), kind, note))

    for error in _handled():
        add(error, "local", None)
    kind = "traceback" if is_interactive() else "local"
    for name in _LAST:
        thing = getattr(sys, name, None)
        note = f"in the last traceback (sys.{name})" if kind != "local" else None
        if type(thing) is types.TracebackType:
            found.extend(of_traceback(thing, kind, note))
        elif thing is not None:
            add(thing, kind, note)
    return found


def _handled():
    """Exceptions that threads are handling."""
    current = getattr(sys, "_current_exceptions", None)
    if current is None:
        return [sys.exc_info()[1]]
    try:
        values = list(current().values())
    except Exception:
        return []
    return [one[1] if type(one) is tuple else one for one in values]


class Modules:
    """Python's modules: the program's, and the others.

    own      [(name, dict, file)] of the program's, `__main__` first
    names    of these modules
    is_own_code  whether code is Plimsoll's
    """

    def __init__(self, places):
        self.is_own_code = places.is_own
        self.own = []
        self.names = set()
        self.namespaces = {}  # {id of a module's dict: (name, dict, file)}
        getter = types.ModuleType.__dict__["__dict__"]
        for name, module in list(sys.modules.items()):
            if type(name) is not str or types.ModuleType not in kinds.mro_of(type(module)):
                continue
            names = getter.__get__(module)
            if type(names) is not dict or id(names) in self.namespaces:
                continue
            file = names.get("__file__")
            file = file if type(file) is str else None
            self.namespaces[id(names)] = (name, names, file)
            if name == "__main__" or (file is not None and places.is_users_file(file)):
                self.own.append((name, names, file))
                self.names.add(name)
        self.own.sort(key=lambda one: one[0] != "__main__")

    def is_own_class(self, thing):
        """Whether the program defines a class."""
        name = kinds.names_of(thing).get("__module__")
        return type(name) is str and name in self.names


def of_global(name, value_name, file, is_notebook):
    """The root of a module's name."""
    if is_notebook and _OUTPUT.fullmatch(value_name):
        return Root("notebook_output", f"output {value_name}", value_name, file)
    return Root("global", f"global {value_name}", value_name, file, None, name)
