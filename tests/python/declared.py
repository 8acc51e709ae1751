"""What the package declares of documents, beside what documents and their descriptions have."""

import os
import re
import typing

from plimsoll import documents
from plimsoll.documents import _part

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
NAME = re.compile(r"`([a-z_0-9]+)`")


def classes():
    """All types of objects, but their bases."""
    found = [getattr(documents, name) for name in documents.__all__]
    return [one for one in found if one not in (documents.Part, documents.Document)]


def members(kind):
    """Names as documents have them."""
    return {name.rstrip("_") for name in _part.hints(kind)}


def page(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def _slug(heading):
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def section(place):
    """The rows of a section's first table: names of its first column → the row."""
    path, _, wanted = place.partition("#")
    found, is_in = {}, False
    for line in page(path).splitlines():
        if line.startswith("#"):
            if is_in:
                break
            is_in = _slug(line.lstrip("# ")) == wanted
        elif is_in and line.startswith("|"):
            cell = line.split("|")[1]
            found.update({one: line for one in NAME.findall(cell)})
            if cell.strip() == "all members of a result":
                found.update(section("docs/formats/replay-json.md#result"))
        elif is_in and found and not line.strip():
            break
    return found


def faults(hint, value, where="$"):
    """What of a document's value does not agree with the type that is declared for it."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return []
    if origin is typing.Union:
        some = [one for one in inner if one is not type(None)]
        return [] if value is None or value == {} else faults(some[0], value, where)
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: no array"]
        return [fault for one in value for fault in faults(inner[0], one, where + "[]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        return [fault for one in value.values() for fault in faults(inner[1], one, where + ".*")]
    if isinstance(hint, type) and issubclass(hint, documents.Part):
        return _faults_of_part(hint, value, where)
    wanted = (int, float) if hint is float else hint
    fits = isinstance(value, wanted) and (hint is bool or not isinstance(value, bool))
    return [] if fits else [f"{where}: {value!r} is no {hint.__name__}"]


def _faults_of_part(kind, value, where):
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no {kind.__name__}"]
    found = [f"{where}.{name} is not declared by {kind.__name__}"
             for name in value if name not in members(kind)]
    for attribute, hint in _part.hints(kind).items():
        name = attribute.rstrip("_")
        if name in value:
            found += faults(hint, value[name], f"{where}.{name}")
        elif not _part._absent(hint)[0] and "error" not in value:
            found.append(f"{where} has no {name}")
    return found


def part_of(hint):
    """The type of an object, in whatever a member has it."""
    while not (isinstance(hint, type) and issubclass(hint, documents.Part)):
        hint = [one for one in typing.get_args(hint) if one is not type(None)][-1]
    return hint
