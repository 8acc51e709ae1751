"""The file of `--plimsoll-lock`: peaks of tests, as lock/1 (docs/formats/lock.md).

`plimsoll rehearse --lock` writes the same file; entries of either leave those of the other as they
are. One set of entries gives one text, to the byte.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

SCHEMA = "lock/1"
BYTES_LEAST = 1 << 20  # less is no difference: PLIM_LOCK_BYTES_LEAST of plimsoll/lock.h
SHARE = 0.01  # of the locked peak: `--by` of plimsoll rehearse --check, if not said
GROUPS_MOST = 8  # of a test; the rest is one group without a stack
_COMMAND = "pytest "
_NUMBERS = ("devices", "capacity_bytes", "steps", "world_size", "rank")  # after texts, in this order
_LINE = re.compile(r":\d+ in ")
_NUMBER = re.compile(r":(\d+) in ")

Entry = Dict[str, Any]


class LockError(ValueError):
    """The file cannot be read or written, in a line."""


class Grown(NamedTuple):
    """
    where  a line: "train.py:41 in forward"
    by     bytes that it has more
    how    "grew"; "new": it had none; "large": it had none, or was among the smallest
    """

    where: str
    by: int
    how: str


def entry(nodeid: str, machine: Dict[str, Any], device: int, allocated: int,
          groups: Sequence[Dict[str, Any]]) -> Entry:
    """Of a test.

    machine  "gpu", "devices", "capacity_bytes", "conf" and "torch"
    groups   what was live at the peak, largest first: "bytes", "count", "stack"
    """
    kept = [dict(one) for one in groups[:GROUPS_MOST]]
    rest = groups[GROUPS_MOST:]
    if rest:
        kept.append({"bytes": sum(one["bytes"] for one in rest),
                     "count": sum(one["count"] for one in rest), "stack": []})
    # Reserved memory and the use of the device are of all tests before it too, and so no test's.
    peak = {"rank": 0, "device": device, "allocated_bytes": allocated, "reserved_bytes": 0,
            "phases": [], "groups": kept}
    return {"command": _COMMAND + nodeid, "gpu": machine["gpu"], "devices": machine["devices"],
            "capacity_bytes": machine["capacity_bytes"], "steps": 0, "world_size": 0, "rank": 0,
            "conf": machine["conf"], "torch": machine["torch"], "device_use_bytes": 0,
            "peaks": [peak]}


def cut(stack: Sequence[str], file: str) -> List[str]:
    """Without the frames that called the test: they differ with the way that pytest was started.

    file  of the test
    """
    ends = [number for number, frame in enumerate(stack, 1) if frame.startswith(file + ":")]
    return list(stack[:ends[-1]] if ends else stack)


def test_of(one: Entry) -> Optional[str]:
    """The node id of an entry; None: it is of a rehearsal."""
    command: str = one["command"]
    return command[len(_COMMAND):] if command.startswith(_COMMAND) else None


def peak_of(one: Entry) -> int:
    """Bytes allocated, of the device that had most."""
    return max((peak["allocated_bytes"] for peak in one["peaks"]), default=0)


def is_above(high: int, low: int, locked: int) -> bool:
    """True if it is more than a difference that may be."""
    return high - low > BYTES_LEAST and high - low > SHARE * locked


def grown(before: Entry, after: Entry) -> Optional[Grown]:
    """The line that grew most, or that is new; None: it is not known.

    A group is the one that was locked where stack and bytes are the same; then where only lines have
    moved; then, of groups with the same functions, by their lines if there are more or fewer now, and
    by their order if not.
    """
    now, known = _groups(after), _groups(before)
    if not known:
        return None  # it was locked without lines
    pairs: List[Tuple[_Group, _Group]] = []
    for alike in (lambda one: (one.stack, one.bytes), lambda one: (one.place, one.bytes)):
        _pair(now, known, alike, pairs)
    for place in {one.place for one in now}:
        if _count(now, place) != _count(known, place):
            _pair(now, known, lambda one: one.stack if one.place == place else None, pairs)
    _pair(now, known, lambda one: one.place, pairs)
    found = [Grown(one.stack[0], one.bytes - old.bytes, "grew") for one, old in pairs]
    has_rest = any(not group["stack"] for peak in before["peaks"] for group in peak["groups"])
    found += [Grown(one.stack[0], one.bytes, "large" if has_rest else "new") for one in now]
    most = max(found, key=lambda one: one.by, default=None)
    return most if most is not None and most.by > 0 else None


class _Group(NamedTuple):
    """Bytes that one stack allocated; the place is the stack without its lines."""

    place: Tuple[str, ...]
    stack: Tuple[str, ...]
    bytes: int


def _groups(one: Entry) -> List[_Group]:
    """In the order of their lines."""
    found = [_Group(tuple(_LINE.sub(" in ", frame) for frame in group["stack"]),
                    tuple(group["stack"]), group["bytes"])
             for peak in one["peaks"] for group in peak["groups"] if group["stack"]]
    return sorted(found, key=lambda group: [int(line) for frame in group.stack
                                            for line in _NUMBER.findall(frame)])


def _pair(now: List[_Group], known: List[_Group], alike: Callable[[_Group], Any],
          pairs: List[Tuple[_Group, _Group]]) -> None:
    """Moves groups that are alike from both lists into pairs; None is like nothing."""
    for one in list(now):
        key = alike(one)
        old = next((old for old in known if key is not None and alike(old) == key), None)
        if old is not None:
            pairs.append((one, old))
            now.remove(one)
            known.remove(old)


def _count(groups: Sequence[_Group], place: Tuple[str, ...]) -> int:
    return sum(one.place == place for one in groups)


def _name(one: Entry) -> Tuple[Any, ...]:
    """All that names an entry, in the order of the file (src/rehearse/lock.c)."""
    texts = [one[key].encode("utf-8", "surrogatepass") for key in ("command", "gpu", "conf")]
    return (*texts, *(one[key] for key in _NUMBERS))


class Lock:
    """Entries by their names."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._entries: Dict[Tuple[Any, ...], Entry] = {}

    @classmethod
    def read(cls, path: str) -> Lock:
        """
        errors  LockError; FileNotFoundError
        """
        lock = cls(path)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            raise
        except (OSError, UnicodeError) as error:
            raise LockError(f"{path}: cannot be read: {error}") from None
        for one in _entries_of(path, text):
            lock.put(one)
        return lock

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, one: Entry) -> None:
        """In the place of the one with its name."""
        self._entries[_name(one)] = one

    def drop(self, one: Entry) -> None:
        """The one with that name, if there is one."""
        self._entries.pop(_name(one), None)

    def find(self, like: Entry) -> Optional[Entry]:
        """The one with the name of another."""
        return self._entries.get(_name(like))

    def entries(self) -> List[Entry]:
        return [self._entries[name] for name in sorted(self._entries)]

    def text(self) -> str:
        document = {"schema": SCHEMA, "entries": self.entries()}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write(self) -> bool:
        """Whole or not at all. False: it had this text already.

        errors  LockError
        """
        text = self.text()
        path = os.path.realpath(self.path)
        try:
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    return False
        except (OSError, UnicodeError):
            pass
        try:
            _replace(path, text)
        except OSError as error:
            raise LockError(f"{self.path}: cannot be written: {error.strerror}") from None
        return True


def _replace(path: str, text: str) -> None:
    mask = os.umask(0)
    os.umask(mask)
    try:
        mode = os.stat(path).st_mode & 0o777
    except OSError:
        mode = 0o666 & ~mask
    handle, part = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path))
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, mode)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


# ---- reading -------------------------------------------------------------------------------------

_ENTRY = {"command": str, "gpu": str, "devices": int, "capacity_bytes": int, "steps": int,
          "world_size": int, "rank": int, "conf": str, "torch": str, "device_use_bytes": int,
          "peaks": list}
_PEAK = {"device": int, "allocated_bytes": int, "groups": list}
_GROUP = {"bytes": int, "count": int, "stack": list}


def _entries_of(path: str, text: str) -> List[Entry]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            raise LockError(f"{path}:{number}: two branches are in it: take either one's file, and "
                            "run the tests with --plimsoll-lock-update")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LockError(f"{path}: is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise LockError(f"{path}: is no lock of this release (\"schema\": \"{SCHEMA}\")")
    entries = document.get("entries")
    if not isinstance(entries, list):
        raise LockError(f"{path}: is no lock: \"entries\" is not a list")
    for one in entries:
        _check(path, one, _ENTRY)
        for peak in one["peaks"]:
            _check(path, peak, _PEAK)
            for group in peak["groups"]:
                _check(path, group, _GROUP)
                if not all(isinstance(frame, str) for frame in group["stack"]):
                    raise LockError(f"{path}: is no lock: \"stack\" is not a list of strings")
    return entries


def _check(path: str, found: Any, members: Dict[str, type]) -> None:
    """A lock that is half read would pass what it should stop."""
    for name, kind in members.items():
        value: Any = found.get(name) if isinstance(found, dict) else None
        is_kind = isinstance(value, kind) and not isinstance(value, bool)
        if not is_kind or (kind is int and value < 0):
            wanted = {str: "a string", int: "a whole number", list: "a list"}[kind]
            raise LockError(f"{path}: is no lock of this release: \"{name}\" is not {wanted}")
