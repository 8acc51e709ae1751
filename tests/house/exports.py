#!/usr/bin/env python3
"""exports.py ROOT - in the stand-ins' folders for vendors, finds functions of ours that leak.

Those folders are compiled without -Wmissing-prototypes, because the vendors' functions are declared
in headers that are not ours. What that warning would find otherwise is found here: a function that
is not static, bears no name of a vendor's (standin/exports.map), and is declared in no header.
"""
import fnmatch
import pathlib
import re
import sys

OURS = {"core", "library", "work"}
DEFINITION = re.compile(r"^(?!static|typedef|#)[a-z_][\w \t*]*?[ *](\w+)\([^{};]*\)\s*\{", re.M)


def complaints(root):
    standin = root / "src/standin"
    patterns = re.findall(r"[\w*]+(?=;)", re.search(
        r"global:([^:]*)local:", (standin / "exports.map").read_text())[1])
    declared = "\n".join(header.read_text() for header in standin.rglob("*.h"))
    for path in sorted(standin.rglob("*.c")):
        if path.relative_to(standin).parts[0] in OURS:
            continue
        for name in DEFINITION.findall(path.read_text()):
            is_vendors = any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
            if not is_vendors and not re.search(rf"\b{name}\(", declared):
                yield f"{path.relative_to(root)}: {name}() is neither static nor declared nor exported"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every function of the stand-ins is static, declared or a vendor's")
    sys.exit(1 if found else 0)
