#!/usr/bin/env python3
"""layering.py ROOT - holds the sources to the table of rooms in src/CMakeLists.txt.

Fails on an include of a room that the includer's USES does not name, on a USES of a room that
is not on a lower floor, on rooms and sources the build does not know, and on a source file that
does not open by saying what it is for. Each public header is named in the HEADERS of one room, is
held to the USES of that room as its sources are, and counts as that room's wherever it is
included; so nothing is reached through a header that could not be included itself. The top floor may
include any public header. The FOLDERS of a room stand on floors of their own, the lowest first: a file
includes its own folder and those before it; the files beside them include all. Prints what is wrong,
one line each.
"""
import pathlib
import re
import sys

ROOM = re.compile(r"plim_room\(\s*(\w+)\s+FLOOR\s+(\d+)([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([\w./-]+)[">]', re.M)
OPENING = re.compile(r"\s*/\*+\s*\S+[\s\S]*?\*/")


def read_table(text):
    """{room: (floor, rooms it uses, files, public headers, folders)} from the plim_room() calls of a
    CMakeLists.txt."""
    rooms = {}
    for name, floor, rest in ROOM.findall(re.sub(r"#.*", "", text)):
        words = {"USES": [], "HEADERS": [], "FOLDERS": [], "FILES": [], "LIBS": [],
                 "DEFINES": []}
        key = None
        for word in rest.split():
            if word in words:
                key = word
            else:
                words[key].append(word)
        rooms[name] = (int(floor), words["USES"], words["FILES"], words["HEADERS"],
                       words["FOLDERS"])
    return rooms


def owners_of_headers(root, rooms):
    """{public header: its room}, and what is wrong with that."""
    owners = {}
    wrong = []
    there = {path.name for path in (root / "include/plimsoll").glob("*.h")}
    for name, (_, _, _, headers, _) in rooms.items():
        for header in headers:
            if header in owners:
                wrong.append(f"src/CMakeLists.txt: {header} belongs to {owners[header]} and to "
                             f"{name}")
            if header not in there:
                wrong.append(f"src/CMakeLists.txt: {name} lists {header}, which is not there")
            owners.setdefault(header, name)
    wrong += [f"include/plimsoll/{header}: the table gives it to no room"
              for header in sorted(there - owners.keys())]
    return owners, wrong


def targets(root, path, owners, rooms, any_public):
    """(include, the room it is of) for each include of a file; the room is None where the include
    does not name one."""
    for include in INCLUDE.findall(path.read_text()):
        folder, _, file = include.rpartition("/")
        if folder == "plimsoll":
            if not any_public and file in owners:
                yield include, owners[file]
        elif folder.split("/")[0] in rooms or (root / "src" / include).exists():
            yield include, folder.split("/")[0]
        elif (path.parent / include).exists():
            yield include, None


def is_above(folders, path, include):
    """True if an include of a room stands in a folder above that of the file that includes it; `folders`
    are the room's, the lowest first."""
    floor = {folder: i for i, folder in enumerate(folders)}
    top = len(folders)
    return floor.get(include.split("/")[1], top) > floor.get(path.parent.name, top)


def complaints(root):
    src = root / "src"
    rooms = read_table((src / "CMakeLists.txt").read_text())
    if not rooms:
        yield "src/CMakeLists.txt: no rooms found"
        return
    top = max(floor for floor, *_ in rooms.values())
    owners, wrong = owners_of_headers(root, rooms)
    yield from wrong
    for name, (floor, uses, files, _, _) in rooms.items():
        for used in uses:
            if used not in rooms or rooms[used][0] >= floor:
                yield f"src/CMakeLists.txt: {name} uses {used}, which is not a lower room"
        for missing in [f for f in files if not (src / name / f).is_file()]:
            yield f"src/CMakeLists.txt: {name} lists {missing}, which is not there"
    public = [(path, owners.get(path.name)) for path in (root / "include/plimsoll").glob("*.h")]
    for path, room in sorted([(path, path.relative_to(src).parts[0]) for path in src.rglob("*.[ch]")]
                             + [one for one in public if one[1] is not None]):
        where = path.relative_to(root)
        if room not in rooms:
            yield f"{where}: the table has no room {room}"
            continue
        floor, uses, files, _, folders = rooms[room]
        if path.suffix == ".c" and str(path.relative_to(src / room)) not in files:
            yield f"{where}: the build does not list it"
        for include, target in targets(root, path, owners, rooms, floor == top):
            if target is None:
                yield f'{where}: "{include}" is written without its room'
            elif target != room and target not in uses:
                yield f"{where}: {room} may not include {include} ({target} is not in its USES)"
            elif (folders and target == room and include.startswith(room + "/")
                  and is_above(folders, path, include)):
                yield f"{where}: may not include {include}, which stands above it"
    for folder in ("include", "src", "tests", "fuzz", "bench", "examples", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            if not OPENING.match(path.read_text()):
                yield f"{path.relative_to(root)}: opens without saying what it is for"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every include is one the table of rooms allows")
    sys.exit(1 if found else 0)
