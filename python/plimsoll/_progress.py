"""How far the command is: a line that appears after half a second of work, and goes at the end.

The command writes it to PLIMSOLL_PROGRESS_FD (docs/formats/progress.md). In a notebook it stands
under the cell, at a terminal on the last line; elsewhere nothing is shown.
"""

from __future__ import annotations

import contextlib
import html
import sys
import threading
from typing import Any, Iterator, NamedTuple, Optional, Protocol

from plimsoll import _child

COLUMNS = 78


class Step(NamedTuple):
    """A line of the command's.

    total  0: it is not known
    unit   "bytes", or a noun
    """

    done: int
    total: int
    unit: str
    label: str

    @property
    def words(self) -> str:
        done = self._amount(self.done)
        if not self.total:
            return f"{self.label}  {done}"
        share = int(100 * min(self.done / self.total, 1))
        done = f"{self.done:,}" if self.unit != "bytes" else done
        return f"{self.label}  {share}%  {done} of {self._amount(self.total)}"

    def _amount(self, count: int) -> str:
        from plimsoll import _found

        return _found.size(count) if self.unit == "bytes" else f"{count:,} {self.unit}"


class View(Protocol):
    """A place that shows one step at a time."""

    def show(self, step: Step) -> None: ...

    def hide(self) -> None: ...


class Reader:
    """Takes what the command writes, and shows the last whole line of it."""

    def __init__(self, view: Optional[View]) -> None:
        self._view = view
        self._rest = b""
        self._is_shown = False

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._view is None or not lines:
            return
        step = _step_of(lines[-1])
        try:
            if step is not None:
                self._is_shown = True
                self._view.show(step)
            else:
                self.hide()
        except Exception:  # a front end that has gone: the work goes on without
            self._view = None

    def hide(self) -> None:
        if self._view is not None and self._is_shown:
            self._is_shown = False
            self._view.hide()


def _step_of(line: bytes) -> Optional[Step]:
    """None: the line is empty, as nothing is under way."""
    fields = line.decode("utf-8", "replace").split(" ", 3)
    if len(fields) < 4 or not (fields[0].isdecimal() and fields[1].isdecimal()):
        return None
    return Step(int(fields[0]), int(fields[1]), fields[2], fields[3])


class _Notebook:
    """An output of the cell, updated in place. At the end it is empty."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, step: Step) -> None:
        bar = f' max="{step.total}" value="{min(step.done, step.total)}"' if step.total else ""
        self._put({"text/plain": step.words,
                   "text/html": f'<div class="plimsoll-progress"><progress{bar}></progress> '
                                f"{html.escape(step.words)}</div>"})

    def hide(self) -> None:
        self._put({"text/plain": "", "text/html": ""})

    def _put(self, bundle: Any) -> None:
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class _Terminal:
    """The last line of standard error, of one call at a time."""

    lock = threading.Lock()

    def show(self, step: Step) -> None:
        words = "".join(c if c.isprintable() else "?" for c in step.words)
        sys.stderr.write(f"\r{words[:COLUMNS]}\033[K")
        sys.stderr.flush()

    def hide(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


@contextlib.contextmanager
def shown() -> Iterator[Reader]:
    """Progress of one call, where there is a place for it."""
    if _child.stopping.get() is not None:  # one of many files: plimsoll.map() shows how many are done
        yield Reader(None)
        return
    display = _notebook_display()
    has_terminal = display is None and _can_erase() and _Terminal.lock.acquire(blocking=False)
    view: Optional[View] = _Notebook(display) if display else _Terminal() if has_terminal else None
    reader = Reader(view)
    try:
        yield reader
    finally:
        try:
            reader.hide()
        finally:
            if has_terminal:
                _Terminal.lock.release()


def _notebook_display() -> Any:
    """IPython's display(), where a kernel runs this."""
    from plimsoll import _session

    if getattr(_session.shell(), "kernel", None) is None:
        return None
    from IPython.display import display

    return display


def _can_erase() -> bool:
    import os

    try:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False
    return is_terminal and os.environ.get("TERM", "dumb") != "dumb"
