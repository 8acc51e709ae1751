"""A recording of a block of code, as PyTorch's snapshot: plimsoll.record()."""

from __future__ import annotations

import gzip
import os
import pickle
import sys
import time
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Callable, Dict, List, Optional, Type

from plimsoll import _agent, _memory, _saying
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll.documents import Diagnosis, Inspection

_ENDINGS = (".pickle", ".pkl", ".pickle.gz", ".pkl.gz")
_HOLDERS_SECONDS = 1.0


class Record:
    """A block of code. Its files are written whole when the block ends, however it ends.

    path           the snapshot; None: not written yet, or `why` says why not
    holders_path   the objects that held memory when the block ended; None: these are missing
    why            a sentence, where there is no snapshot once the block has ended
    warnings       sentences on what the recording lacks
    """

    def __init__(self, path: "os.PathLike[str] | str", events: Optional[int],
                 holders: bool) -> None:
        self._target = _checked(os.fspath(path))
        if events is not None and events < 1:
            raise UsageError(f"events={events}: the history needs one event at least; None keeps all")
        self.path: Optional[str] = None
        self.holders_path: Optional[str] = None
        self.why: Optional[str] = None
        self.warnings: List[str] = []
        self._events = events if events is not None else sys.maxsize
        self._wants_holders = holders
        self._history: Any = None
        self._since: Optional[int] = None  # µs: a history that others began is cut there
        self._is_over = False

    def inspect(self) -> Inspection:
        """What the recording shows."""
        import plimsoll

        return plimsoll.inspect(self._written())

    def diagnose(self) -> Diagnosis:
        """What happened in it, and what helps."""
        import plimsoll

        return plimsoll.diagnose(self._written())

    def _written(self) -> str:
        if self.path is None:
            raise UsageError(self.why or "the block has not ended: nothing is written yet")
        return self.path

    # ---- the block -------------------------------------------------------------------------------

    def __enter__(self) -> Record:
        self._attempt("record", self._wait_for_torch)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._is_over = True
        try:
            self._attempt("write the recording", self._write)
        finally:
            if self._history is not None:
                self._attempt("end the recording", self._history.end)
                self._attempt("end the recording", self._history.uncover)
        if self.path is None:
            self.why = self.why or next(iter(self.warnings), "CUDA was not in use")
            _saying.say(f"{self._target} was not written: {self.why}")

    def _attempt(self, what: str, function: Callable[[], None]) -> None:
        """Calls a function; its failure is never the program's."""
        try:
            function()
        except Exception as error:
            words = error.strerror if isinstance(error, OSError) and error.strerror else error
            self.warnings.append(f"could not {what}: {type(error).__name__}: {words}")

    def _wait_for_torch(self) -> None:
        _agent.load()
        from plimsoll_agent import importing

        def torch_is_there(torch: Any, _seconds: float) -> None:
            if hasattr(torch._C, "_cuda_memoryStats"):  # it knows CUDA
                torch.cuda._lazy_call(lambda: self._attempt("record", lambda: self._begin(torch)))

        importing.when_imported("torch", torch_is_there)

    def _begin(self, torch: Any) -> None:
        """CUDA is in use."""
        if self._is_over or self._history is not None:
            return
        from plimsoll_agent import history, journal

        self._history = history.History(torch, self._events, journal.Journal())
        self._since = time.time_ns() // 1000 if self._history.is_enabled() else None
        if self._since is None:
            self._history.cover()
            self._history.begin()

    # ---- its end ---------------------------------------------------------------------------------

    def _write(self) -> None:
        torch = _memory.torch_in_use()
        if torch is None or self._history is None:
            return
        from plimsoll_agent.blackbox.files import Folder

        folder = Folder(os.path.dirname(self._target))
        self._attempt("write the recording", lambda: self._write_into(folder, torch))
        if self.path is None and self.holders_path is not None:  # of nothing
            folder.remove(os.path.basename(self.holders_path))
            self.holders_path = None

    def _write_into(self, folder: Any, torch: Any) -> None:
        name = f"{os.path.basename(_without_ending(self._target))}.holders.json"
        folder.remove(name)  # of an older recording
        if self._wants_holders:
            self._attempt("look for holders", lambda: self._write_holders(torch, folder, name))
        for take in (self._snapshot, self._history.state):
            try:
                folder.write(os.path.basename(self._target), lambda file: self._pickle(take, file))
                self.path = self._target
                break
            except OSError:
                raise
            except Exception as error:  # memory of this machine is short: without the history
                self.warnings.append(
                    f"the history is missing: {type(error).__name__}: {error}")

    def _write_holders(self, torch: Any, folder: Any, name: str) -> None:
        from plimsoll_agent import holders

        found = holders.find(torch, _HOLDERS_SECONDS, moment="dump")
        folder.write_json(name, found)
        self.holders_path = os.path.join(folder.path, name)

    def _snapshot(self) -> Dict[str, Any]:
        snapshot: Dict[str, Any] = self._history.snapshot()
        traces = snapshot.get("device_traces", [])
        if self._since is not None:
            self.warnings.append(
                "something else recorded already: its history is used, as it was begun")
            snapshot["device_traces"] = [
                [event for event in trace if event.get("time_us", self._since) >= self._since]
                for trace in traces]
        elif self._history.is_programs():
            self.warnings.append("the program began a recording in the block: the history is its own")
        if self._since is None and any(len(trace) >= self._events for trace in traces):
            self.warnings.append(
                f"the ring of {self._events:,} events was full: the first ones are missing")
        return snapshot

    def _pickle(self, take: Callable[[], Dict[str, Any]], file: IO[bytes]) -> None:
        if self._target.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=3) as packed:
                pickle.dump(take(), packed, protocol=4)
        else:
            pickle.dump(take(), file, protocol=4)


def _checked(path: str) -> str:
    """An absolute path that can be written to."""
    if not path.endswith(_ENDINGS):
        raise UsageError(f"{path}: a recording is PyTorch's snapshot, which is written as "
                         f"{_without_ending(path)}.pickle or .pickle.gz; `plimsoll export` "
                         "makes other formats of it")
    full = os.path.abspath(path)
    folder = os.path.dirname(full)
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{path}: files cannot be made in {folder}")
    if os.path.isdir(full):
        raise UsageError(f"{path}: is a folder")
    return full


def _without_ending(path: str) -> str:
    path = path[:-len(".gz")] if path.endswith(".gz") else path
    return os.path.splitext(path)[0]
