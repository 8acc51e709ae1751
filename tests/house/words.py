#!/usr/bin/env python3
"""words.py [--list | --rooms] ROOT - counts the words that docs/style.md rules out.

What users read (strings of src/, public headers, documents) has at most SAID_MAX, pages of docs/design DESIGN_MAX, comments
COMMENTS_MAX: ratchets, to be lowered with every file that is cleaned. --list prints each place, --rooms counts by room.
"""
import collections
import pathlib
import re
import sys

COMMENTS_MAX = 445
DESIGN_MAX = 0
SAID_MAX = 0
OFFENDERS = (
    ("behind", re.compile(r"\bbehind\b", re.I)),
    ("tell", re.compile(r"\b(?:tells?|told|telling)\b", re.I)),
    ("somebody", re.compile(r"\b(?:somebody|nobody|whoever|anybody|everybody)\b", re.I)),
    ("is none", re.compile(r"\b(?:is|are|was|were) none\b", re.I)),
    ("asked for", re.compile(r"\basked for\b", re.I)),
)
OPENING = ("opening", re.compile(r"\A(?:What|Whether|Who|Whose|How|Where)\b(?![^.]*\?)"))
# Words of others: what they print is matched, not said.
OTHERS_WORDS = re.compile(r"src/(?:oomtext|series)/|src/stacks/frames\.tsv|src/gpus/gpus\.tsv|src/standin/")
NOT_OURS = {"docs/style.md"} # shows what is wrong
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"(?:\s*(?:PRI\w+\s*)?\"(?:\\.|[^\"\\\n])*\")*", re.S)
FRAME = re.compile(r"^[ \t]*(?:/\*+|\*+/?|//+|#+)?[ \t]?|\*+/\s*$", re.M)


def plain(comment):
    """A comment's words, without its frame."""
    return FRAME.sub("", comment).strip()


def pieces(path, text):
    """(offset, words, is_for_users) of a file."""
    if path.suffix in (".c", ".h"):
        for token in TOKEN.finditer(text):
            is_string = token[0].startswith('"')
            if is_string:
                yield token.start(), re.sub(r'"\s*(?:PRI\w+\s*)?"', "", token[0]), True
            else:
                yield token.start(), token[0], False
    elif path.suffix == ".md":
        yield 0, re.sub(r"```.*?```|`[^`\n]*`", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S), True
    elif path.suffix in (".tsv", ".txt"):
        yield 0, text, True
    else:
        for comment in re.finditer(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*|\"\"\".*?\"\"\"", text, re.S):
            yield comment.start(), comment[0], False


def offences(root):
    """(where, line, kind, is_for_users, words around) of every one."""
    folders = (("src", "*.[ch]"), ("src", "*.tsv"), ("src/advice", "*.txt"), ("src", "*.py"), ("include", "*.h"), ("tests", "*.[ch]"), ("tests", "*.py"),
               ("bench", "*.[ch]"), ("fuzz", "*.[ch]"), ("examples", "*.[ch]"), ("docs", "*.md"))
    paths = [root / "README.md", root / "ARCHITECTURE.md"]
    paths += [path for folder, kind in folders for path in sorted((root / folder).rglob(kind))]
    for path in paths:
        where = path.relative_to(root).as_posix()
        if where in NOT_OURS or where.startswith("tests/house/") or "__pycache__" in where:
            continue
        text = path.read_text(errors="replace")
        is_source = where.startswith("src/")
        for start, words, is_said in pieces(path, text):
            for_users = is_said and not (path.suffix in (".c", ".h", ".tsv") and
                                         (not is_source or OTHERS_WORDS.match(where))) or where.startswith("include/")
            if is_said and not for_users:
                continue # strings of tests, words of others
            for kind, pattern in OFFENDERS:
                for found in pattern.finditer(words):
                    around = " ".join(words[max(0, found.start() - 40):found.end() + 40].split())
                    yield where, text.count("\n", 0, start + found.start()) + 1, kind, for_users, around
            if not is_said and OPENING[1].match(plain(words)):
                yield where, text.count("\n", 0, start) + 1, OPENING[0], for_users, " ".join(plain(words)[:70].split())


def main(arguments):
    found = list(offences(pathlib.Path(arguments[-1]).resolve()))
    design = [one for one in found if one[0].startswith("docs/design/")]
    said = [one for one in found if one[3] and one not in design]
    comments = [one for one in found if not one[3]]
    if "--list" in arguments:
        for where, line, kind, for_users, around in found:
            print(f"{where}:{line}: {kind}{'' if for_users else ' (comment)'}: {around}")
    elif "--rooms" in arguments:
        rooms = collections.Counter(("/".join(one[0].split("/")[:2]), one[3]) for one in found)
        for (room, for_users), count in sorted(rooms.items()):
            print(f"{count:5} {'said   ' if for_users else 'comment'} {room}")
    for where, line, kind, _, around in said if len(arguments) == 1 else ():
        print(f"{where}:{line}: {kind}: {around}")
    for name, some in (("what users read", said), ("design pages", design), ("comments", comments)):
        kinds = collections.Counter(one[2] for one in some)
        print(f"{name}: {len(some)}", *(f"{kind} {kinds[kind]}" for kind in sorted(kinds)), sep=", ")
    return len(said) > SAID_MAX or len(design) > DESIGN_MAX or len(comments) > COMMENTS_MAX


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
