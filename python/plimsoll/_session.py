"""A live session: IPython, a Jupyter kernel or Python's own prompt, and what it keeps by itself."""

from __future__ import annotations

import builtins
import re
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from plimsoll import _agent

_OUTPUT_NAME = re.compile(r"_(\d+)\Z")
_LAST = ("last_exc", "last_value", "last_traceback", "last_type")
_shell: List[Any] = []  # the IPython that has loaded the extension


def shell() -> Any:
    """IPython's shell, whether or not it has loaded us; None outside of one."""
    if _shell:
        return _shell[0]
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def namespace() -> Dict[str, Any]:
    """The variables of the session: those of the cells, or of the main module."""
    found = shell()
    variables: Dict[str, Any] = vars(sys.modules["__main__"]) if found is None else found.user_ns
    return variables


def is_output_name(name: str) -> bool:
    """`_`, `__`, `___`, `_3`: further names of what cells gave."""
    return name in ("_", "__", "___") or bool(_OUTPUT_NAME.match(name))


def is_variable(name: str) -> bool:
    """A variable of the session, which is not one of IPython's own."""
    if name not in namespace() or is_output_name(name):
        return False
    return name not in _hidden() or _hidden()[name] is not namespace()[name]


def cell_of(file: str) -> Optional[int]:
    """The number of the cell that IPython keeps under a file's name."""
    names = getattr(getattr(shell(), "compile", None), "_filename_map", None)
    number = names.get(file) if isinstance(names, dict) else None
    return number if isinstance(number, int) else None


def is_interactive() -> bool:
    """A person works in it: the process goes on after a failure."""
    _agent.load()
    from plimsoll_agent import endings

    return shell() is not None or bool(endings.is_interactive())


def can_ask() -> bool:
    """Whether there is a person to ask."""
    found = shell()
    kernel = getattr(found, "kernel", None)
    if kernel is not None:
        return bool(getattr(kernel, "_allow_stdin", False))
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


# ---- outputs ----------------------------------------------------------------------------------


def outputs() -> Iterator[Tuple[str, Any]]:
    """("Out[3]", value) of each cell's output, and ("_", value) at Python's own prompt."""
    if shell() is None:
        if hasattr(builtins, "_"):
            yield "_", getattr(builtins, "_")
        return
    for number, value in list(namespace().get("_oh", {}).items()):
        yield f"Out[{number}]", value


def drop_output(name: str) -> None:
    """Takes an output out of Out[] and out of its further names."""
    if name == "_":
        builtins.__dict__.pop("_", None)
        return
    found = shell()
    number = int(name[4:-1])
    value = namespace().get("_oh", {}).pop(number, None)
    _drop_names(namespace(), value)
    _drop_names(_hidden(), value)
    hook = getattr(found, "displayhook", None)
    for further in ("_", "__", "___"):
        if getattr(hook, further, None) is value:
            setattr(hook, further, "")
    result = getattr(found, "last_execution_result", None)
    if result is not None and getattr(result, "result", None) is value:
        result.result = None
    if getattr(builtins, "_", None) is value:
        builtins.__dict__.pop("_", None)


def _hidden() -> Dict[str, Any]:
    """IPython keeps outputs a third time, among the names that %who leaves out."""
    names: Dict[str, Any] = getattr(shell(), "user_ns_hidden", {})
    return names


def drop_variable(name: str) -> None:
    """Takes a variable out of the session."""
    value = namespace().pop(name, None)
    if _hidden().get(name) is value:
        _hidden().pop(name, None)


def _drop_names(names: Dict[str, Any], value: Any) -> None:
    for name in [name for name, held in names.items() if held is value and is_output_name(name)]:
        if _OUTPUT_NAME.match(name):
            del names[name]
        else:
            names[name] = ""


# ---- the last traceback -----------------------------------------------------------------------


def last_errors() -> List[BaseException]:
    """The exception that is being handled, and those that the session keeps."""
    found = [sys.exc_info()[1]]
    found += [getattr(sys, name, None) for name in ("last_exc", "last_value")]
    result = getattr(shell(), "last_execution_result", None)
    found += [getattr(result, name, None) for name in ("error_in_exec", "error_before_exec")]
    unique = {id(one): one for one in found if isinstance(one, BaseException)}
    return list(unique.values())


def drop_last_errors() -> None:
    """Takes away what Python and IPython keep of the last traceback. Its text stays on the page."""
    for name in _LAST:
        if hasattr(sys, name):
            delattr(sys, name)
    found = shell()
    if found is None:
        return
    for keeper in (getattr(found, "InteractiveTB", None), getattr(found, "SyntaxTB", None)):
        for name in ("tb", "etype", "evalue", "last_syntax_error", "pdb"):
            if getattr(keeper, name, None) is not None:
                setattr(keeper, name, None)
    result = getattr(found, "last_execution_result", None)
    for name in ("error_in_exec", "error_before_exec"):
        if getattr(result, name, None) is not None:
            setattr(result, name, None)


# ---- IPython's extension ----------------------------------------------------------------------


class Watch:
    """Of one shell: after a cell that ran out of memory, says who holds it."""

    def __init__(self, ipython: Any) -> None:
        self.shell = ipython
        self._failures = 0

    def install(self) -> None:
        self.shell.events.register("pre_run_cell", self.before_cell)
        self.shell.events.register("post_run_cell", self.after_cell)

    def remove(self) -> None:
        self.shell.events.unregister("pre_run_cell", self.before_cell)
        self.shell.events.unregister("post_run_cell", self.after_cell)

    def before_cell(self, *_info: Any) -> None:
        from plimsoll import _after

        self._failures = _after.failures()

    def after_cell(self, *results: Any) -> None:
        """The cell's traceback is on the page by now, whole."""
        from plimsoll import _after

        try:
            if self._ran_out(results[0] if results else None):
                del results
                _after.say_after_cell()
        except Exception as error:  # never the session's problem
            print(_after.cannot_words(error))


    def _ran_out(self, result: Any) -> bool:
        from plimsoll import _after

        error = getattr(result, "error_in_exec", None)
        if error is None and _after.failures() > self._failures:
            error = getattr(sys, "last_value", None)  # of a magic that showed it: %%time
        return _after.is_out_of_memory(error)


_watch: List[Watch] = []


def watch() -> None:
    """Says who holds the memory after each failure, where a person goes on after one."""
    found = shell()
    if found is not None:
        if not _watch:
            _watch.append(Watch(found))
            _watch[0].install()
    elif is_interactive():
        _watch_prompt()


def _watch_prompt() -> None:
    """Python's own prompt: it calls sys.excepthook, and goes on."""
    shown = sys.excepthook

    def excepthook(kind: Any, error: BaseException, trace: Any) -> None:
        from plimsoll import _after

        shown(kind, error, trace)
        if _after.is_out_of_memory(error):
            del kind, error, trace
            _after.say_after_prompt()

    sys.excepthook = excepthook


def load(ipython: Any) -> None:
    """See plimsoll.load_ipython_extension()."""
    from plimsoll import _after, _arming

    _shell[:] = [ipython]
    watch()
    line: Optional[str] = None
    try:
        _arming.arm()
        line = _after.late_words()
    except Exception as error:
        line = f"nothing is recorded: {type(error).__name__}: {error}"
    if line:
        print(f"plimsoll: {line}")


def unload(_ipython: Any) -> None:
    """See plimsoll.unload_ipython_extension()."""
    for one in _watch:
        one.remove()
    _watch.clear()
    _shell.clear()
