#!/usr/bin/env python3
"""layering.py ROOT - holds the sources to the table of rooms in src/CMakeLists.txt.

Fails on an include of a room that the includer's USES does not name, on a USES of a room that
is not on a lower floor, on rooms and sources the build does not know, and on a source file that
does not open by saying what it is for. A public header named after a room counts as that room's;
floor 5 may include any public header. Prints what is wrong, one line each.
"""
import pathlib
import re
import sys

ROOM = re.compile(r"plim_room\(\s*(\w+)\s+FLOOR\s+(\d+)([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([\w./-]+)[">]', re.M)
OPENING = re.compile(r"\s*/\*+\s*\S+[\s\S]*?\*/")
TOP_FLOOR = 5


def read_table(text):
    """{room: (floor, rooms it uses, files)} from the plim_room() calls of a CMakeLists.txt."""
    rooms = {}
    for name, floor, rest in ROOM.findall(re.sub(r"#.*", "", text)):
        words = {"USES": [], "FILES": [], "LIBS": [], "DEFINES": []}
        key = None
        for word in rest.split():
            if word in words:
                key = word
            else:
                words[key].append(word)
        rooms[name] = (int(floor), words["USES"], words["FILES"])
    return rooms


def complaints(root):
    src = root / "src"
    rooms = read_table((src / "CMakeLists.txt").read_text())
    if not rooms:
        yield "src/CMakeLists.txt: no rooms found"
    for name, (floor, uses, files) in rooms.items():
        for used in uses:
            if used not in rooms or rooms[used][0] >= floor:
                yield f"src/CMakeLists.txt: {name} uses {used}, which is not a lower room"
        for missing in [f for f in files if not (src / name / f).is_file()]:
            yield f"src/CMakeLists.txt: {name} lists {missing}, which is not there"
    for path in sorted(src.rglob("*.[ch]")):
        where = path.relative_to(root)
        room = where.parts[1]
        if room not in rooms:
            yield f"{where}: the table has no room {room}"
            continue
        floor, uses, files = rooms[room]
        if path.suffix == ".c" and str(path.relative_to(src / room)) not in files:
            yield f"{where}: the build does not list it"
        for include in INCLUDE.findall(path.read_text()):
            folder, _, file = include.rpartition("/")
            stem = file.removesuffix(".h")
            if folder == "plimsoll" and floor < TOP_FLOOR and stem in rooms:
                target = stem
            elif folder.split("/")[0] in rooms or (src / include).exists():
                target = folder.split("/")[0]
            elif (path.parent / include).exists():
                yield f'{where}: "{include}" is written without its room'
                continue
            else:
                continue  # a public header, the system's or a library's
            if target != room and target not in uses:
                yield f"{where}: {room} may not include {include} ({target} is not in its USES)"
    for folder in ("include", "src", "tests", "fuzz", "bench", "examples", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            if not OPENING.match(path.read_text()):
                yield f"{path.relative_to(root)}: opens without saying what it is for"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every include is one the table of rooms allows")
    sys.exit(1 if found else 0)
