#!/usr/bin/env python3
"""names.py ROOT - finds names that mean two things.

Over src/ and include/: types and tags, enumerators, macros and functions that are not static. A search for a name
then leads to one place. What is private to a file counts too, because a reader meets it in a search all the same;
a macro that its file undefines again, and a short name that two files give to one type, do not.
"""
import collections
import pathlib
import re
import sys

BLANKED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
AGGREGATE = re.compile(r"\b(?:struct|union|enum)(?:\s+(\w+))?\s*\{")
ENUM = re.compile(r"\benum\b[^{};()]*\{([^{}]*)\}")
ALIAS = re.compile(r"^[ \t]*typedef\b([^;{}]*);", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*.*)", re.M)
FUNCTION = re.compile(r"^(?!static\b|typedef\b|#|else\b|return\b)[A-Za-z_][\w \t*]*?[ *](\w+)\([^{};]*\)\s*\{", re.M)


def blank(text):
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def end_of(text, at):
    depth = 1
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def definitions(text):
    """(name, kind, body) of everything that a source defines; equal bodies are one thing."""
    undefined = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.M))
    text = blank(text)
    for found in AGGREGATE.finditer(text):
        if found[1]:
            yield found[1], "type", None
        name = re.match(r"\s*(\w+)\s*;", text[end_of(text, found.end()):])
        if name and text.rfind("typedef", 0, found.start() + 1) > text.rfind(";", 0, found.start()):
            yield name[1], "type", None
    for found in ENUM.finditer(text):
        for item in re.sub(r"\([^()]*\)", "", found[1]).split(","):
            name = re.match(r"\s*(\w+)\s*(?:=|$)", item)
            if name:
                yield name[1], "enumerator", None
    for found in ALIAS.finditer(text):
        body = " ".join(found[1].split())
        name = re.search(r"\(\s*\*?\s*(\w+)\s*\)\s*\(", body) or re.search(r"(\w+)(?:\[\w*\])?$", body)
        if name and not re.match(r"(?:struct|union|enum) (\w+) \1$", body):
            yield name[1], "type", body
    for found in MACRO.finditer(text):
        if found[1] not in undefined and found[1].startswith("PLIM"):
            yield found[1], "macro", None
    for found in FUNCTION.finditer(text):
        yield found[1], "function", None


def complaints(root):
    places = collections.defaultdict(dict)
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            where = path.relative_to(root).as_posix()
            for name, kind, body in definitions(path.read_text()):
                places[name].setdefault((where if body is None else body), (where, kind))
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{name}: " + ", ".join(f"{kind} in {where}" for where, kind in found.values())


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every name means one thing")
    sys.exit(1 if found else 0)
