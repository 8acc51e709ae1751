"""The figures of this process's GPU memory, and what the agent's parts know of it.

One gauge for each process: PyTorch's statistics are the process's, also where pytest runs pytest.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from typing import Any, Dict, List, Optional, Tuple

from plimsoll import _agent, _arming, _command, _memory
from plimsoll.pytest_plugin.measured import PeakLine

FRAMES_MAX = 16  # of a stack (docs/formats/lock.md)
LINES_MAX = 32
_LAST = ("last_exc", "last_value", "last_traceback", "last_type")
_gauges: List[Gauge] = []


def gauge(folder: Optional[str]) -> Gauge:
    """The one of this process, which begins with the first call.

    folder  what the recorder writes goes there; None: to that of other runs
    """
    if not _gauges:
        _gauges.append(Gauge(folder))
    return _gauges[0]


class Gauge:
    """Ready once the process uses CUDA; until then there are no figures."""

    def __init__(self, folder: Optional[str]) -> None:
        _arming.record(os.environ.get("PLIMSOLL_OUTPUT") or folder)
        from plimsoll_agent import importing
        from plimsoll_agent.journal import Journal

        self._journal = Journal()
        self._peaks: Any = None
        self._clean: Optional[List[int]] = None  # allocated after the last collection
        importing.when_imported("torch", self._torch_is_there)

    def _torch_is_there(self, torch: Any, _seconds: float) -> None:
        from plimsoll_agent.peaks import Peaks

        peaks = Peaks(torch, self._journal)
        peaks.cover()
        torch.cuda._lazy_call(peaks.begin)
        self._peaks = peaks

    @property
    def torch(self) -> Any:
        """The torch of this process where it has initialized CUDA; else None."""
        return _memory.torch_in_use() if self._peaks is not None else None

    def take(self) -> List[Any]:
        """The agent's Reading of each device since the last take; the next interval begins."""
        readings: List[Any] = self._peaks.take() if self.torch is not None else []
        return readings

    def allocated(self) -> List[int]:
        """Bytes of each device, now."""
        if self.torch is None:
            return []
        return [one.current["allocated_bytes"] for one in self._peaks.glance()]

    # ---- between tests -------------------------------------------------------------------------

    def name(self, roots: Any) -> None:
        """A search for holders begins at roots(), [(label, object)]."""
        recorder = _arming.recorder()
        if recorder is not None:
            recorder.roots = roots

    def settle(self) -> None:
        """Gives back what waits to be: garbage, the last test's traceback, libraries' workspaces.

        So a test's figures do not depend on the tests before it. pytest itself drops that traceback
        when the next test is called.
        """
        torch = self.torch
        if torch is None or self.allocated() == self._clean:
            return
        clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
        if clear is not None:
            clear()
        if any(self.allocated()):
            for name in _LAST:
                if hasattr(sys, name):
                    delattr(sys, name)
            gc.collect()
        self._clean = self.allocated()

    def unsettle(self) -> None:
        """A test has run."""
        self._clean = None

    # ---- the history ---------------------------------------------------------------------------

    def _history(self) -> Any:
        """The recorder's, where it records; else None."""
        recorder = _arming.recorder()
        history = recorder.history if recorder is not None else None
        return history if history is not None and history.is_recording() else None

    def restart_history(self) -> None:
        """Forgets the events so far, unless all of them were asked for."""
        recorder = _arming.recorder()
        if recorder is not None and recorder.choice.record != "all":
            recorder.history.restart()

    def snapshot(self) -> Any:
        """PyTorch's, with the events since the history began anew; None: nothing is recorded."""
        history = self._history()
        return history.snapshot() if history is not None else None

    def peak_lines(self, device: int, peak: int, is_all: bool, root: str) -> List[PeakLine]:
        """The lines that allocated what was live at the peak, as `plimsoll inspect` finds them.

        peak    bytes allocated then; a history that lacks the peak has no say
        is_all  count what was allocated before the test too
        root    files in this folder are named by their path in it
        """
        history = self._history()
        if history is None:
            return []
        with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
            path = os.path.join(folder, "snapshot.pickle")
            history.write_snapshot(path)
            document = _command.call(["inspect", path]).document
        for one in document["files"][0].get("devices", ()):
            if one["device"] == device and one["peak"]["allocated_bytes"] >= 0.9 * peak:
                return self._lines(one["peak"]["by_stack"], is_all, root)
        return []

    def by_line(self, device: int) -> Any:
        """What is allocated by which line, as the agent's live.lines looks at it; None: unknown."""
        from plimsoll_agent.live.lines import Lines

        recorder = _arming.recorder()
        if self._history() is None:
            return None
        return Lines(recorder.torch, recorder.places).look(device)

    def made(self, blocks: List[Dict[str, Any]], root: str) -> Optional[str]:
        """The line that allocated the largest: "models/kv.py:12 in fill"; None: none is known."""
        frames = max(blocks, key=lambda one: one["size"]).get("frames")
        return _stack(frames, _arming.recorder().places, root)[0] if frames else None

    def _lines(self, groups: List[Dict[str, Any]], is_all: bool, root: str) -> List[PeakLine]:
        places = _arming.recorder().places
        lines: Dict[Tuple[str, ...], PeakLine] = {}
        for group in groups:
            part = () if is_all else ("before_recording_bytes", "before_recording_count")
            size = group["bytes"] - (group[part[0]] if part else 0)
            count = group["count"] - (group[part[1]] if part else 0)
            if size <= 0:
                continue
            stack = tuple(_stack(group["frames"], places, root))
            line = lines.setdefault(stack, PeakLine(0, 0, list(stack)))
            line.bytes += size
            line.count += count
        return sorted(lines.values(), key=lambda one: -one.bytes)[:LINES_MAX]


def _stack(frames: List[Dict[str, Any]], places: Any, root: str) -> List[str]:
    users = [one for one in frames if one["filename"] != "<string>"  # execnet's, of xdist
             and places.is_users_file(one["filename"])] or frames[:1]
    return [f"{short(one['filename'], root)}:{one['line']} in {one['name']}"
            for one in users[:FRAMES_MAX]]


def short(file: str, root: str) -> str:
    """A path as lock/1 has it: within the root, or its last folder and name."""
    if file.startswith(root.rstrip(os.sep) + os.sep):
        return os.path.relpath(file, root)
    return os.sep.join(file.split(os.sep)[-2:]) if os.path.isabs(file) else file
