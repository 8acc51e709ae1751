"""Gives memory back after a failure: shows what it would drop, drops what is confirmed."""

from __future__ import annotations

import functools
import gc
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from plimsoll import _found, _frames, _memory, _session
from plimsoll._memory import Memory

GROUPS = ("tracebacks", "outputs", "garbage", "cache")


class Candidate(NamedTuple):
    """Something that can be dropped.

    name    as recover() takes it
    text    of it
    bytes   that come back by it, as far as the search knows; None: not known
    drop    does it
    is_all  False: something else holds some of them, and fewer may come back
    """

    name: str
    text: str
    bytes: Optional[int]
    drop: Callable[[], object]
    is_all: bool = True


class Recovery:
    """What recover() did.

    shown     (name, bytes) of what could be dropped; bytes None: not known
    dropped   (name, bytes that came back) in the order of the steps
    before    the allocator's figures at first; None: CUDA is not in use
    after     and at the end
    """

    def __init__(self, shown: Sequence[Candidate], before: Optional[Memory]) -> None:
        self.shown: List[Tuple[str, Optional[int]]] = [(one.name, one.bytes) for one in shown]
        self.dropped: List[Tuple[str, int]] = []
        self.before = before
        self.after = before

    @property
    def recovered(self) -> int:
        """Bytes of tensors that came back."""
        if self.before is None or self.after is None:
            return 0
        return self.before.allocated - self.after.allocated

    def __repr__(self) -> str:
        return f"<recovered {_found.size(max(self.recovered, 0))}>"

    def _ipython_display_(self) -> None:
        """The page is printed already."""


# ---- the plan ---------------------------------------------------------------------------------


class Estimate:
    """Bytes that come back when holders are dropped, by a search's document."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document
        self.holders: List[Dict[str, Any]] = document["holders"]

    def of(self, dropped: Set[int]) -> Tuple[int, bool]:
        """Of holders by their ids: the most, and whether it is that: others may hold some too."""
        chosen = [one for one in self.holders if one["id"] in dropped]
        return (sum(one["bytes"] for one in chosen),
                all(other in dropped for one in chosen for other in one["also"]))

    def ids(self, belongs: Callable[[Dict[str, Any]], bool]) -> Set[int]:
        return {one["id"] for one in self.holders if one["path"] and belongs(one)}

    def garbage(self) -> Optional[int]:
        found = self.document.get("garbage")
        return int(found["bytes"]) if found else None


def _is_of_finished() -> Callable[[Dict[str, Any]], bool]:
    """Holders whose way begins at a local of a function that has ended."""
    finished = {(code.co_filename, code.co_name)
                for error in _session.last_errors() for code in _frames.codes_of(error)}

    def belongs(holder: Dict[str, Any]) -> bool:
        return holder["kind"] == "traceback" or (
            holder["path"][0].startswith("local ")
            and (holder["file"], holder["function"]) in finished)

    return belongs


def _root_name(holder: Dict[str, Any]) -> Optional[str]:
    """The name of the session that a holder's way begins at; None: it begins elsewhere."""
    label, _, name = holder["path"][0].partition(" ")
    is_sessions = label == "output" or (label == "global" and holder["function"] == "__main__")
    return name if is_sessions else None


def _is_of_output(name: str, value: Any) -> Callable[[Dict[str, Any]], bool]:
    """Holders that drop_output() takes away: Out[3], and `_3`, `_` of the same object."""
    names = {further for further, held in _session.namespace().items()
             if held is value and _session.is_output_name(further)}

    def belongs(holder: Dict[str, Any]) -> bool:
        root = _root_name(holder)
        return root in names or (root in ("Out", "_oh")
                                 and holder["path"][1:2] == [name[len("Out"):]])

    return belongs


def _is_of_variable(name: str) -> Callable[[Dict[str, Any]], bool]:
    return lambda holder: _root_name(holder) == name


def _drop_tracebacks(names: Sequence[str]) -> None:
    """Clears finished frames, but for those of exceptions that variables of the session hold."""
    handled = sys.exc_info()[1]
    spared = {id(frame) for name, value in list(_session.namespace().items())
              if isinstance(value, BaseException) and value is not handled and name not in names
              and not _session.is_output_name(name)
              for frame in _frames.of_error(value)}
    _session.drop_last_errors()
    _frames.clear_finished(spared)


class Plan:
    """What can be dropped now, in the order in which it is dropped."""

    def __init__(self, torch: Any, names: Sequence[str]) -> None:
        self.torch = torch
        self.names = names
        self.before = _memory.now(torch)
        self.estimate = Estimate(_found.find(_found.SECONDS).document)
        self.candidates = [one for one in (self._tracebacks(), *self._outputs(),
                                           *self._variables(), self._garbage(), self._cache())
                           if one is not None]

    def _candidate(self, name: str, text: str, belongs: Callable[[Dict[str, Any]], bool],
                   drop: Callable[[], object]) -> Candidate:
        count, is_all = self.estimate.of(self.estimate.ids(belongs))
        return Candidate(name, text, count, drop, is_all)

    def _tracebacks(self) -> Optional[Candidate]:
        found = self._candidate("tracebacks", "locals of functions that have ended, kept by "
                                "tracebacks", _is_of_finished(),
                                functools.partial(_drop_tracebacks, self.names))
        is_wanted = found.bytes or "tracebacks" in self.names or _session.last_errors()
        return found if is_wanted else None

    def _outputs(self) -> List[Candidate]:
        every = [self._candidate(name, f"output of a cell, {type(value).__name__}",
                                 _is_of_output(name, value),
                                 functools.partial(_session.drop_output, name))
                 for name, value in _session.outputs()]
        return [one for one in every if one.bytes or one.name in self.names]

    def _variables(self) -> List[Candidate]:
        """Those that are named; no other is ever dropped."""
        return [self._candidate(name, f"variable, {type(_session.namespace()[name]).__name__}",
                                _is_of_variable(name),
                                functools.partial(_session.drop_variable, name))
                for name in self.names if _is_variable(name)]

    def _garbage(self) -> Candidate:
        return Candidate("garbage", "unreachable objects, freed by a collection",
                         self.estimate.garbage(), gc.collect)

    def _cache(self) -> Candidate:
        return Candidate("cache", "kept by the allocator for reuse; what the others free adds to it",
                         self.before.cached, self.torch.cuda.empty_cache)

    def chosen(self) -> List[Candidate]:
        """Those that were named, and the collection that goes with them; all, if none was."""
        if not self.names:
            return self.candidates
        wanted = set(self.names)
        if wanted != {"cache"}:
            wanted.add("garbage")
        return [one for one in self.candidates if one.name in wanted
                or ("outputs" in wanted and _is_output(one.name))]

    def has_any(self) -> bool:
        """Whether it is known that something comes back."""
        return any(one.bytes is None or one.bytes > 0 for one in self.chosen())

    def live(self) -> List[Tuple[str, int, str]]:
        """(name, bytes, text of the largest part) of variables, which are dropped only if named."""
        found: Dict[str, Tuple[str, int, str]] = {}
        for one in self.estimate.holders:
            name = _root_name(one) if one["path"] else None
            if name is None or name in self.names or not _session.is_variable(name):
                continue
            _, count, text = found.get(name, (name, 0, _found.subject(one)))
            found[name] = (name, count + one["bytes"], text)
        return sorted(found.values(), key=lambda one: -one[1])


def _is_output(name: str) -> bool:
    return name == "_" or name.startswith("Out[")


def _is_variable(name: str) -> bool:
    """That recover() takes; a variable that is called as a group is left to `del`."""
    return name not in GROUPS and _session.is_variable(name)


def _check(names: Sequence[str]) -> None:
    outputs = {name for name, _ in _session.outputs()}
    for name in names:
        if name not in GROUPS and name not in outputs and not _is_variable(name):
            raise ValueError(f"nothing is called {name!r}: recover() takes "
                             f"{', '.join(repr(group) for group in GROUPS)}, 'Out[3]' or the "
                             "name of a variable")


# ---- the page ---------------------------------------------------------------------------------

LIVE_SHOWN = 5


def _row(name: str, count: Optional[int], text: str) -> str:
    return f"  {name:<12} {'' if count is None else _found.size(count):>10}  {text}"


def _show(plan: Plan) -> None:
    before = plan.before
    print(f"GPU memory: {_found.size(before.allocated)} allocated, "
          f"{_found.size(before.reserved)} reserved")
    print("Can be dropped" if plan.has_any() else "Nothing is known that can be dropped.")
    for one in plan.chosen():
        if one.bytes is None or one.bytes > 0:
            print(_row(one.name, one.bytes, one.text + ("" if one.is_all else
                                                        "; at most, others hold some of it")))
    live = plan.live()
    example = next((name for name, _, _ in live if name not in GROUPS), None)
    if live:
        print("In use by variables, dropped only if named"
              + (f", as in plimsoll.recover({example!r})" if example else ""))
    for name, count, text in live[:LIVE_SHOWN]:
        print(_row(name, count, text + (f"; `del {name}` drops it" if name in GROUPS else "")))
    if not plan.estimate.document["is_complete"]:
        print(f"The search is incomplete: {plan.estimate.document['why_incomplete']}.")


def _is_confirmed(names: Sequence[str], confirm: Optional[bool]) -> bool:
    if confirm is not None:
        return confirm
    if names:
        return True
    if not _session.can_ask():
        print("Nothing was dropped: plimsoll.recover(confirm=True) drops these.")
        return False
    sys.stdout.flush()
    if input("Drop these? [y/N] ").strip().lower() in ("y", "yes"):
        return True
    print("Nothing was dropped.")
    return False


def _drop(plan: Plan, recovery: Recovery) -> None:
    """Drops what was chosen, one after the other, and counts what each gave back."""
    before = plan.before
    for one in plan.chosen():
        one.drop()
        after = _memory.now(plan.torch)
        came = (before.reserved - after.reserved if one.name == "cache"
                else before.allocated - after.allocated)
        recovery.dropped.append((one.name, max(came, 0)))
        before = after
    recovery.after = before


def _report(recovery: Recovery, names: Sequence[str]) -> None:
    before, after = recovery.before, recovery.after
    if before is None or after is None:
        return
    print("Dropped" if names or any(count for _, count in recovery.dropped)
          else "Nothing came back.")
    for name, count in recovery.dropped:
        if count > 0 or name in names:
            print(_row(name, count,
                       "returned to the device" if name == "cache" else "came back"))
    print(f"GPU memory: {_found.size(after.allocated)} allocated, "
          f"{_found.size(after.reserved)} reserved; {_found.size(max(recovery.recovered, 0))} of "
          "tensors came back")


def recover(names: Sequence[str], confirm: Optional[bool]) -> Recovery:
    """See plimsoll.recover()."""
    _check(names)
    torch = _memory.torch_in_use()
    if torch is None:
        print("CUDA is not in use: there is nothing to recover.")
        return Recovery((), None)
    plan = Plan(torch, names)
    recovery = Recovery(plan.chosen(), plan.before)
    if not names or confirm is False:
        _show(plan)
    if (names or confirm or plan.has_any()) and _is_confirmed(names, confirm):
        _drop(plan, recovery)
        _report(recovery, names)
    return recovery
