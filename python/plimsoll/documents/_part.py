"""The base of every object of a document: an attribute is a member, read as the class declares it.

A class states its members once, as annotations; what they mean stands in docs/formats, and a test
holds both against each other and against real documents. A member whose name is a word of Python
has an underscore after it: `class_`.
"""

from __future__ import annotations

import json
import keyword
from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterator, List, Optional, Tuple,
                    Union, get_args, get_origin, get_type_hints)

from plimsoll import _page

Reader = Callable[[Any, "Part"], Any]
SHOWN = 60  # characters of a text in repr()


def attribute(member: str) -> str:
    """ "class_" for "class" """
    return member + "_" if keyword.iskeyword(member) else member


def _plain(value: Any, _parent: Part) -> Any:
    return value


def _list(inner: Reader) -> Reader:
    return lambda value, parent: [inner(one, parent) for one in value]


def _dict(inner: Reader) -> Reader:
    return lambda value, parent: {key: inner(one, parent) for key, one in value.items()}


def _optional(inner: Reader) -> Reader:
    return lambda value, parent: inner(value, parent) if value else None


def _reader(hint: Any) -> Reader:
    """What makes a member's value of the document's."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Part):
        return hint
    if origin is list and _reader(inner[0]) is not _plain:
        return _list(_reader(inner[0]))
    if origin is dict and _reader(inner[1]) is not _plain:
        return _dict(_reader(inner[1]))
    if origin is Union:
        parts = [_reader(one) for one in inner if one is not type(None)]
        if parts[0] is not _plain:
            return _optional(parts[0])
    return _plain


_hints: Dict[type, Dict[str, Any]] = {}
_readers: Dict[type, Dict[str, Reader]] = {}


def hints(kind: type) -> Dict[str, Any]:
    """Attribute → type, of all members that a class declares."""
    if kind not in _hints:
        found = {name: hint for name, hint in get_type_hints(kind).items()
                 if not name.startswith("_") and get_origin(hint) is not ClassVar}
        _readers[kind] = {name: _reader(hint) for name, hint in found.items()}
        _hints[kind] = found  # last: another thread may look
    return _hints[kind]


def _absent(hint: Any) -> Tuple[bool, Any]:
    """Whether a document may lack the member, and what it is then."""
    if get_origin(hint) is list:
        return True, []
    return get_origin(hint) is Union and type(None) in get_args(hint), None


class Part:
    """An object of a document.

    _page  the section that describes it, "docs/formats/diagnose-json.md#finding"; "": its parent's
    """

    _page: ClassVar[str] = ""

    def __init__(self, members: Dict[str, Any], parent: Optional[Part] = None) -> None:
        self._members = members
        self._parent = parent

    if not TYPE_CHECKING:  # a checker knows the annotations, and no other name

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            value = self._read(name)
            self.__dict__[name] = value
            return value

    def _read(self, name: str) -> Any:
        member = name[:-1] if name.endswith("_") else name
        kind = type(self)
        declared = hints(kind)
        if member in self._members:
            return _readers[kind].get(name, _plain)(self._members[member], self)
        if name in declared:
            may, value = _absent(declared[name])
            if may:
                return value
        error = self._members.get("error")
        because = f": {error['message']}" if isinstance(error, dict) else ""
        raise AttributeError(f"{kind.__name__} has no {name!r}{because}")

    def to_dict(self) -> Dict[str, Any]:
        """The members as the document has them; yours to change."""
        return dict(json.loads(json.dumps(self._members)))

    def __dir__(self) -> List[str]:
        members = {attribute(member) for member in self._members}
        return sorted({*super().__dir__(), *hints(type(self)), *members})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        return type(self) is type(other) and self._members == other._members

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._members, self._parent)

    def __repr__(self) -> str:
        shown = ", ".join(f"{attribute(name)}={_short(value)}"
                          for name, value in self._members.items())
        return f"{type(self).__name__}({shown})"


def _short(value: Any) -> str:
    if isinstance(value, (list, dict)) and value:
        return f"[{len(value)}]" if isinstance(value, list) else f"{{{len(value)}}}"
    if isinstance(value, str) and len(value) > SHOWN:
        return repr(value[:SHOWN] + "…")
    return repr(value)


class Frame(Part):
    """A frame of a stack, as it was recorded."""

    filename: str
    line: int
    name: str
    fx: Optional[Any]

    def __str__(self) -> str:
        return f"{self.filename}:{self.line} in {self.name}"


class Error(Part):
    """Why a file could not be read."""

    status: str
    message: str
    offset: Optional[int]


class Item(Part):
    """An item of a page: a text, a table, a bar or a chart."""

    _page = "docs/formats/says-json.md#says-the-words-of-a-page-in-every-document"
    id: str
    severity: Optional[str]
    lead: Optional[str]
    text: Optional[str]
    figures: Optional[Dict[str, Any]]
    columns: List[str]
    rows: List[Dict[str, Any]]
    parts: List[Dict[str, Any]]
    end: Optional[str]
    end_bytes: Optional[int]
    request: Optional[str]
    marks: List[Any]
    title: Optional[str]
    low: Optional[str]
    high: Optional[str]
    top: Optional[str]
    foot: Optional[str]
    from_: Optional[str]
    to: Optional[str]


KEYS = ("file", "rank", "pid", "device")  # members that say whose a row is


def _flat(members: Dict[str, Any], before: str = "") -> Iterator[Tuple[str, Any]]:
    """Columns: an object's members are columns of their own, "frame.line"."""
    for name, value in members.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def _rows(found: Any, path: List[str], keys: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """The objects at the end of a path of members, each with the keys of those above it."""
    if found is None:
        return
    if isinstance(found, list):
        for one in found:
            yield from _rows(one, path, keys)
        return
    keys = {**keys, **{name: found[name] for name in KEYS
                       if isinstance(found.get(name), (str, int))}}
    if path:
        yield from _rows(found.get(path[0]), path[1:], keys)
    else:
        yield {**keys, **dict(_flat(found))}


def _column(pandas: Any, values: List[Any]) -> Any:
    """Values for a DataFrame, which would make floats of integers beside a None."""
    known = [one for one in values if one is not None]
    if not known or not all(type(one) is int for one in known):
        return values
    return pandas.array(values, dtype="Int64" if max(known) < 1 << 63 else "UInt64")


def frame(rows: List[Dict[str, Any]]) -> Any:
    """Rows as pandas.DataFrame; integers stay exact where some are missing."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas: pip install pandas; "
                          "to_rows() does without") from None
    names = dict.fromkeys(name for row in rows for name in row)
    return pandas.DataFrame({name: _column(pandas, [row.get(name) for row in rows])
                             for name in names})


class Document(Part):
    """The answer of a command: its document as attributes, and its page.

    page     as the command printed it, with the colours of a terminal; "" where it was not drawn
    status   the command's exit status: 0, 1 where a verdict or `fail_on` says so, or 3
    _tables  name → path of members, of what to_rows() and to_frame() know; the first is meant
             where none is named
    """

    _tables: ClassVar[Dict[str, str]] = {}

    schema: str
    says: List[Item]

    def __init__(self, members: Dict[str, Any], page: str = "", status: int = 0) -> None:
        super().__init__(members)
        self._drawn = page
        self._status = status

    @property
    def page(self) -> str:
        return self._drawn

    @property
    def status(self) -> int:
        return self._status

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._members, self.page, self.status)

    def to_rows(self, table: Optional[str] = None) -> List[Dict[str, Any]]:
        """A table as a list of dicts, for pandas, polars, csv.

        table   one of tables(); None: the first of them
        """
        names = self.tables()
        if table is not None and table not in names:
            raise ValueError(f"{type(self).__name__} has no table {table!r}; it has "
                             + ", ".join(names))
        path = self._tables[table or names[0]]
        return list(_rows(self._members, path.split(".") if path else [], {}))

    def to_frame(self, table: Optional[str] = None) -> Any:
        """A table as pandas.DataFrame; integers stay exact where some are missing."""
        return frame(self.to_rows(table))

    @classmethod
    def tables(cls) -> List[str]:
        """The names that to_rows() and to_frame() take."""
        return list(cls._tables)

    def __repr__(self) -> str:
        return _page.shown(self.page).rstrip("\n") or super().__repr__()

    def __str__(self) -> str:
        return _page.plain(self.page).rstrip("\n") or super().__repr__()

    def _repr_html_(self) -> Optional[str]:
        """The page in a notebook."""
        return _page.html(self.page) if self.page else None
