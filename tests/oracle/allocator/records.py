#!/usr/bin/env python3
"""records.py [SCRIPT [SETTING]] - shows a golden record beside its script; alone, lists them.

As a module: scripts, the settings they are played under, and where the golden records lie.
"""
import hashlib
import lzma
import pathlib
import sys

import generate

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GOLDEN = ROOT / "tests" / "data" / "oracle"
TORCH = "2.11.0"

# Name and PYTORCH_CUDA_ALLOC_CONF. Every script is played under every one.
SETTINGS = {
    "default": "",
    "expandable": "expandable_segments:True",
    "max_split": "max_split_size_mb:64,max_non_split_rounding_mb:32",
    "gc": "garbage_collection_threshold:0.6,per_process_memory_fraction:0.75",
    "roundup": "roundup_power2_divisions:[1:1,4:2,16:8,256:4,>:2]",
    "large_segment": "large_segment_size_mb:64",
    "expandable_max_split": "expandable_segments:True,max_split_size_mb:48",
    "combined": "max_split_size_mb:24,garbage_collection_threshold:0.8,"
    "roundup_power2_divisions:4,per_process_memory_fraction:0.9,large_segment_size_mb:12",
}


def scripts():
    """{name: text}: those written by hand, then the seeded ones."""
    written = sorted((HERE / "scripts").glob("*.txt"))
    return {path.stem: path.read_text() for path in written} | generate.scripts()


def operations(text):
    """The lines of a script that are operations: one answer in the record belongs to each."""
    lines = (line.split("#")[0].rstrip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("%")]


def is_answer(line):
    """Whether a line of a record is the last of an operation."""
    return line.startswith(("=", "!"))


def compared(record):
    """A record without what is for people only."""
    return [line for line in record.splitlines() if not line.startswith("#")]


def by_operation(lines):
    """The lines of a record, a list for each operation; the sums at the end are the last list."""
    groups = [[]]
    for line in lines:
        groups[-1].append(line)
        if is_answer(line):
            groups.append([])
    return groups


def side_by_side(script, record):
    """A record with each operation before what it did."""
    words = operations(script) + ["(the end)"]
    shown = []
    for word, lines in zip(words, by_operation(record.splitlines())):
        shown += ["> " + word] + ["    " + line for line in lines]
    return "\n".join(shown) + "\n"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def pack(script, records):
    """A golden file: {setting: record} of one script."""
    parts = [f"@ torch {TORCH} script {digest(script)}\n"]
    for name, record in records.items():
        parts += [f"@ {name} {SETTINGS[name]}\n", record]
    return lzma.compress("".join(parts).encode(), preset=9 | lzma.PRESET_EXTREME)


def unpack(data):
    """What pack() packed: (head, {setting: record})."""
    head, _, rest = lzma.decompress(data).decode().partition("\n")
    records = {}
    for part in rest.split("@ ")[1:]:
        title, _, record = part.partition("\n")
        records[title.split(" ")[0]] = record
    return head, records


def golden(name, script):
    """The records of a script, {setting: record}."""
    head, records = unpack((GOLDEN / f"{name}.xz").read_bytes())
    if head != f"@ torch {TORCH} script {digest(script)}":
        raise ValueError(f"{name}: recorded from another script or release; see `make oracle`")
    return records


def main(arguments):
    texts = scripts()
    if not arguments:
        for name, text in texts.items():
            print(f"{name:32}{len(operations(text)):6} operations")
        print("settings: " + " ".join(SETTINGS))
        return
    name, setting = (arguments + ["default"])[:2]
    print(side_by_side(texts[name], golden(name, texts[name])[setting]), end="")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:
        sys.exit(0)
