#!/usr/bin/env python3
"""one_place.py ROOT - no source but the table of frames knows a frame by its path or function.

Fails where a string of a source of src/ holds a path or a qualified name of
src/stacks/frames.tsv, or is a function of it (one that begins with "_" or that needs no file).
Left out are the rooms that read texts of other programs, which frames may stand in, and the
stand-ins, which bear the names of others' functions. Prints what is wrong, one line each.
"""
import pathlib
import re
import sys

LEFT_OUT = {"advice", "facade", "oomtext", "standin", "stacks", "verdict"}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#\s*include[^\n]*", re.S)


def words_of(table):
    """(what no other source may have in a string, whether it must be all of the string)"""
    for line in table.read_text().splitlines()[1:]:
        if not line or line.startswith("#"):
            continue
        file, function, _, _ = line.split("\t")
        path = file.strip("^$*").strip("/")
        if "/" in path or "packages" in path or path.startswith("<"):
            yield path, False
        name = function.strip("*")
        if len(name) > 5 and ("::" in name or name.startswith("_") or (name and not file)):
            yield name, "::" not in name


def complaints(root):
    words = sorted(set(words_of(root / "src/stacks/frames.tsv")))
    if len(words) < 50:
        yield f"src/stacks/frames.tsv: only {len(words)} words to look for"
    for path in sorted((root / "src").rglob("*.[ch]")):
        room = path.relative_to(root / "src").parts[0]
        if room in LEFT_OUT:
            continue
        for text in STRING.findall(COMMENT.sub(" ", path.read_text())):
            found = [word for word, is_all in words
                     if (word == text.strip("*") if is_all else word in text)]
            if found:
                yield (f'{path.relative_to(root)}: "{text}" knows a frame by "{found[0]}", which '
                       "src/stacks/frames.tsv knows")


if __name__ == "__main__":
    wrong = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(wrong) or "frames are classified in one place")
    sys.exit(1 if wrong else 0)
