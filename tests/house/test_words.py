#!/usr/bin/env python3
"""test_words.py - words.py counts what docs/style.md rules out, and nothing else."""
import pathlib
import tempfile
import unittest

from words import offences

FOUND = (
    ("src/base/a.c", "/* Whether it fits. */\n", "opening", False),
    ("src/base/a.c", "/*\n * a.c - what nobody\n * reads.\n */\n", "somebody", False),
    ("src/base/a.c", 'say("%s: 3 bytes behind "\n    "the end");\n', "behind", True),
    ("include/plimsoll/a.h", "/** False: there is none. */\n", "is none", True),
    ("docs/a.md", "What a page tells.\n", "tell", True),
    ("README.md", "What was asked for.\n", "asked for", True),
    ("src/advice/fixes.txt", "text: Ask whoever knows.\n", "somebody", True),
    ("tests/base/a.py", '"""Tells of it."""\n', "tell", False),
)
FINE = (
    ("src/base/a.c", "int tell(int behind); /* True if it fits. */\n"),
    ("src/base/a.c", "/* How far is it? */\n"),
    ("src/oomtext/forms.tsv", "out of memory\tasked for\n"),
    ("tests/base/a.c", 'is_said("nobody tells");\n'),
    ("docs/a.md", "`tell()`\n\n```\nwhat a program tells\n```\n"),
    ("docs/style.md", "nobody\n"),
)


def found(place, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, content in (("README.md", ""), ("ARCHITECTURE.md", ""), (place, text)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return [(where, kind, is_said) for where, _, kind, is_said, _ in offences(root)]


class Words(unittest.TestCase):
    def test_each_offender_is_counted_once_and_where_it_belongs(self):
        for place, text, kind, is_said in FOUND:
            with self.subTest(text):
                self.assertEqual(found(place, text), [(place, kind, is_said)])

    def test_code_quotations_and_words_of_others_are_left_alone(self):
        for place, text in FINE:
            with self.subTest(text):
                self.assertEqual(found(place, text), [])


if __name__ == "__main__":
    unittest.main()
