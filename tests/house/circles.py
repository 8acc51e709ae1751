#!/usr/bin/env python3
"""circles.py ROOT BUILD - finds files of src/ that call each other in a circle.

A file that calls another is above it; where the calls lead back, neither can be read, tested or moved
alone. The calls are read from the object files of BUILD (nm): what one file leaves undefined, another
defines. A circle that has a reason to stay is a line of ARCHITECTURE.md's section "Circles of calls":

    - `room`: `a.c` `b.c`: the reason

A circle is allowed if one such line names all of its files.
"""
import os
import pathlib
import re
import subprocess
import sys


def symbols(root, build):
    """Of each source file: (what it defines, what it uses from elsewhere)."""
    objects = {}
    for path in sorted(build.glob("src/**/*.c.o")):
        source = str(path).split(".dir/")[1][:-len(".o")]
        if (root / "src" / source).exists(): # not what an older build left
            objects.setdefault(source, path)
    for source, path in objects.items():
        listing = subprocess.run([os.environ.get("NM", "nm"), path], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        fields = [line.split() for line in listing.splitlines()]
        yield (source, {f[2] for f in fields if len(f) == 3 and f[1] in "TDRBV"},
               {f[1] for f in fields if len(f) == 2 and f[0] == "U"})


def calls(files):
    """A graph: of each file, the files it uses, each with one symbol for an example."""
    home = {symbol: source for source, defined, _ in files for symbol in defined}
    graph = {source: {} for source, _, _ in files}
    for source, _, used in files:
        for symbol in sorted(used):
            target = home.get(symbol, source)
            if target != source:
                graph[source].setdefault(target, symbol)
    return graph


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for target in graph[todo.pop()]:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def circles(graph):
    """The sets of files that reach each other, each sorted, in order."""
    reach = {source: reachable(graph, source) for source in graph}
    return sorted({tuple(sorted(b for b in reach[a] if a in reach[b]))
                   for a in graph if a in reach[a]})


def allowed(architecture):
    section = re.search(r"^## Circles of calls\n(.*?)(?=^## |\Z)", architecture, re.M | re.S)
    for room, files in re.findall(r"^- `([\w/]+)`:((?:\s+`[\w/]+\.c`,?)+)", section[1] if section else "",
                                  re.M):
        yield {f"{room}/{name}" for name in re.findall(r"`([\w/]+\.c)`", files)}


def complaints(graph, architecture):
    lines = list(allowed(architecture))
    for circle in circles(graph):
        if not any(set(circle) <= line for line in lines):
            yield "a circle of calls: " + " ".join(circle)
            for source in circle:
                for target, symbol in graph[source].items():
                    if target in circle:
                        yield f"    {source} uses {symbol} of {target}"


if __name__ == "__main__":
    root, build = map(pathlib.Path, sys.argv[1:3])
    found = list(complaints(calls(list(symbols(root, build))), (root / "ARCHITECTURE.md").read_text()))
    print("\n".join(found) or "no circle of calls but those that ARCHITECTURE.md gives a reason for")
    sys.exit(1 if found else 0)
