#!/usr/bin/env python3
"""copies.py ROOT - finds what base has once and a source has again.

Units (base/units.h), the smaller and the larger of two numbers and arithmetic that stops at the
ends (base/numbers.h), digits and letters (base/ascii.h) have grown copies under a dozen names. Prints each copy, one line each.
Examples are left out: they are programs of users, who have nothing but the public headers.
"""
import pathlib
import re
import sys

FOLDERS = ("src", "tests", "bench", "fuzz")
HOME = "src/base/"
UNIT = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w*?(?:KIB|MIB|GIB|TIB))[ \t]+"
                  r"[^\n]*?\b(?:1\)?[ \t]*<<[ \t]*[1-4]0|1024|1048576|1073741824|0x100000|0x40000000)\b",
                  re.M)
# A function of two numbers that does nothing but return an expression; C has fmin() and fmax() for
# real numbers, and their difference, cut at zero, may be a model's hinge.
FUNCTION = re.compile(r"^[a-z][\w \t]*[ \t*](\w+)\((?:const )?\w+ (\w+), (?:const )?\w+ (\w+)\)\s*"
                      r"\{\s*return ([^;{}]*);\s*\}", re.M)
SHAPES = (
    (r"{a} <=? {b} \? {a} : {b}", "plim_min()"),
    (r"{a} >=? {b} \? {b} : {a}", "plim_min()"),
    (r"{a} >=? {b} \? {a} : {b}", "plim_max()"),
    (r"{a} <=? {b} \? {b} : {a}", "plim_max()"),
    (r"{a} >=? {b} \? {a} - {b} : 0", "plim_minus()"),
    (r"{a} <=? {b} \? 0 : {b} - {a}", "plim_minus()"),
    (r"{a} > UINT64_MAX - {b} \? UINT64_MAX : {a} \+ {b}", "plim_plus()"),
)

# Tests may spell these out: some check base with them.
KINDS = re.compile(r">= '([0aA])'\s*&&\s*[^&|;]+ <= '([9zZ])'")


def copies(text, is_source=True):
    """(line, name, what base has instead) of each copy in a source's text."""
    for unit in UNIT.finditer(text):
        yield text.count("\n", 0, unit.start()) + 1, unit[1], "base/units.h"
    for kind in KINDS.finditer(text) if is_source else ():
        yield text.count("\n", 0, kind.start()) + 1, f"{kind[1]} to {kind[2]}", "base/ascii.h"
    for function in FUNCTION.finditer(text):
        name, *arguments, body = function.groups()
        for a, b in (arguments, arguments[::-1]):
            for shape, instead in SHAPES:
                if "double" in function[0] and "- {b}" in shape:
                    continue
                if re.fullmatch(shape.format(a=a, b=b), " ".join(body.split())):
                    yield text.count("\n", 0, function.start()) + 1, name, f"{instead} of base/numbers.h"


def complaints(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            where = path.relative_to(root).as_posix()
            if not where.startswith(HOME):
                for line, name, instead in copies(path.read_text(), folder == "src"):
                    yield f"{where}:{line}: {name} is a copy of {instead}"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "base has no copies")
    sys.exit(1 if found else 0)
