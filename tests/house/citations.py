#!/usr/bin/env python3
"""citations.py ROOT - finds references that a stranger cannot open.

In documents: relative links to files and headings, and files named in code font, that are not there. In sources, tests and tools: pages (*.md) that are neither
beside the file nor below the root, and papers that are not in this repository, by name.
"""
import pathlib
import re
import sys

DOCUMENTS = ("docs", "tests", "tools", "examples", "src", "fuzz", "bench", "include")
SOURCES = ("src", "include", "tests", "fuzz", "bench", "tools", "examples")
KINDS = {".c", ".h", ".py", ".tsv", ".cmake", ".sh", ".txt", ".md", ".map", ".s", ".in"}
LINK = re.compile(r"(?<!\\)\[[^\]\n]*\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:[\w-]+/)+[\w-]+\.(?:c|h|py|tsv|txt|map))`")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
PAGE = re.compile(r"(?<![\w./<{*%-])((?:[\w-]+/|\.\./)*[\w-]+\.md)\b")
PAPERS = re.compile(r"pytorch-caching-allocator|snapshot-tools|memory-planning|training-techniques"
                    r"|allocator-research|pytorch-host\b|landscape-2026|oom-messages §|(?<![\w/])design\.md")
NOT_OURS = ("tests/house/", "docs/style.md") # they show what is wrong
OTHERS = {"README.md", "FORMAT.md"}


def anchors(text):
    """The anchors that a page's headings give, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    names = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        names.add(name if name not in names else f"{name}-1")
    return names


def dead_links(root, path):
    text = path.read_text()
    for found in FILE.finditer(re.sub(r"```.*?```", lambda block: re.sub(r"[^\n]", " ", block[0]), text, flags=re.S)):
        first = found[1].split("/")[0]
        places = (root, root / "src", root / "include", path.parent) # `base/map.c` is a room's; torch is also PyTorch
        if first != "torch" and any((place / first).is_dir() for place in places[:2]) and not any((place / found[1]).exists() for place in places):
            yield text.count("\n", 0, found.start()) + 1, f"{found[1]} is not there"
    text = re.sub(r"```.*?```|`[^`\n]*`(?!\])", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)
    for found in LINK.finditer(text):
        target, _, anchor = found[1].partition("#")
        if re.match(r"\w+:", target):
            continue
        to = (path.parent / target).resolve() if target else path
        line = text.count("\n", 0, found.start()) + 1
        if not to.exists():
            yield line, f"{found[1]} is not there"
        elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text()):
            yield line, f"{found[1]}: no such heading"


def lost_pages(root, path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for paper in PAPERS.findall(line):
            yield number, f"{paper} is a paper that is not in the repository"
        for page in PAGE.findall(line) if path.suffix != ".md" else ():
            places = (root, path.parent, root / "docs", root / "tests/oracle/allocator")
            if pathlib.PurePath(page).name not in OTHERS and not any((place / page).exists() for place in places):
                yield number, f"{page} is not there"


def files(root, folders, kinds):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in kinds and path.is_file() and "__pycache__" not in path.parts:
                yield path


def complaints(root):
    root = root.resolve()
    pages = [*sorted(root.glob("*.md")), *files(root, DOCUMENTS, {".md"})]
    for check, paths in ((dead_links, pages), (lost_pages, [*pages, *files(root, SOURCES, KINDS)])):
        for path in dict.fromkeys(paths):
            where = path.relative_to(root).as_posix()
            if not where.startswith(NOT_OURS):
                try:
                    yield from (f"{where}:{line}: {what}" for line, what in check(root, path))
                except UnicodeDecodeError:
                    pass # a test's bytes, no text


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every reference can be opened")
    sys.exit(1 if found else 0)
