#!/usr/bin/env python3
"""test_one_place.py ROOT - what is known of settings stands in src/settings alone.

Outside that room, no string literal of src/ is the name of a setting, and no code rounds a
size to blocks or spells a size of PyTorch's segments: defaults, bounds, names in files and the
rounding are asked of the room. Sentences and lines to paste may name settings.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
ROOM = ROOT / "src" / "settings"
BELOW = ROOT / "src" / "base" / "block_bytes.h"  # what histories need of it

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)

# A size up to the next multiple of 512, however it is written.
ROUNDING = re.compile(r"\b511u?\b|\b512u?\)? *- *1\b|PLIM_BLOCK_BYTES_MIN *- *1\b|~\(?grain\b"
                      r"|ROUND_BYTES *- *1\b")
# kLargeBuffer and kMinLargeAlloc by value; kSmallSize and kSmallBuffer under a name of their own.
SEGMENT_SIZE = re.compile(r"\b(?:20|10)(?: *\* *MIB\b|u?\)? *<< *20\b)"
                          r"|#define +\w*(?:SMALL|LARGE|REMAINDER)\w* +\(+(?:uint64_t\)|UINT64_C\()?"
                          r"[12](?: \* MIB|\)? << 20)")
# These mean something else by such a name or value.
OTHERS = {
    "src/alloc/text/oom_text.c": "PyTorch's own words",
    "src/oomtext/amount.c": "a number that is too small to be in bytes",
    "src/standin/core/memory.h": "cudaMalloc's own small allocations",
}


def table_names():
    """Names, aliases and names in files: all words of the table."""
    text = (ROOM / "table.c").read_text()
    rows = text[text.index("plim_setting_rows[PLIM_SETTING_KEY_COUNT] = {"):]
    rows = rows[:rows.index("};")]
    return set(LITERAL.findall(rows))


def other_files():
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        if ROOM not in path.parents and path != BELOW:
            yield str(path.relative_to(ROOT)), COMMENT.sub("", path.read_text())


def releases():
    """{key: release} as the table has it, "2.11"."""
    rows = re.findall(r'\{ "(\w+)",.*?PLIM_TORCH\((\d+), (\d+)\)', (ROOM / "table.c").read_text(), re.S)
    return {key: f"{major}.{minor}" for key, major, minor in rows}


class OnePlace(unittest.TestCase):
    def test_the_manual_has_the_releases_of_the_table(self):
        rows = re.findall(r"^\| (?:\[)?`(\w+)`.*?\| (\d+\.\d+) \|", (ROOT / "docs/settings.md").read_text(),
                          re.M)
        self.assertEqual(dict(rows), releases())
        self.assertEqual(len(rows), 20)

    def test_the_table_is_read(self):
        names = table_names()
        self.assertIn("max_split_size_mb", names)
        self.assertIn("release_lock_on_hipmalloc", names)
        self.assertIn("max_split_size", names)
        self.assertGreaterEqual(len(names), 20)

    def test_no_other_room_spells_the_name_of_a_setting(self):
        names = table_names() - {"backend"}  # an ordinary word, too
        found = [f"{path}: \"{literal}\"" for path, text in other_files() if path not in OTHERS
                 for literal in LITERAL.findall(text) if literal in names]
        self.assertEqual(found, [])

    def test_no_other_room_rounds_sizes(self):
        found = [f"{path}: {match.group(0)}" for path, text in other_files()
                 for match in ROUNDING.finditer(text)]
        self.assertEqual(found, [])

    def test_no_other_room_has_the_sizes_of_segments(self):
        found = [f"{path}: {match.group(0)}" for path, text in other_files() if path not in OTHERS
                 for match in SEGMENT_SIZE.finditer(text)]
        self.assertEqual(found, [])

    def test_what_is_excused_is_there(self):
        for path in OTHERS:
            self.assertTrue((ROOT / path).exists(), path)

    def test_faults_are_found(self):
        self.assertTrue(ROUNDING.search("(bytes + 511) & ~511"))
        self.assertTrue(ROUNDING.search("(bytes + grain - 1) & ~(grain - 1)"))
        self.assertTrue(ROUNDING.search("bytes + PLIM_BLOCK_BYTES_MIN - 1"))
        self.assertFalse(ROUNDING.search("(bytes + PAGE_BYTES - 1) / PAGE_BYTES"))
        self.assertTrue(SEGMENT_SIZE.search("#define LARGE_PAGE (20 * MIB)"))
        self.assertTrue(SEGMENT_SIZE.search("(uint64_t)20 << 20"))
        self.assertTrue(SEGMENT_SIZE.search("#define REMAINDER_BYTES ((uint64_t)1 << 20)"))
        self.assertFalse(SEGMENT_SIZE.search("#define LARGE_BYTES (2 * GIB)"))
        self.assertTrue(SEGMENT_SIZE.search("#define SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
