#!/usr/bin/env python3
"""test_citations.py - citations.py finds references that cannot be opened, and nothing else."""
import pathlib
import tempfile
import unittest

from citations import complaints

PAGE = "# Title\n\n## The `first` part\n"
DEAD = (
    ("docs/a.md", "[x](gone.md)\n", "docs/a.md:1: gone.md is not there"),
    ("docs/a.md", "\n[x](page.md#second)\n", "docs/a.md:2: page.md#second: no such heading"),
    ("README.md", "see [here](docs/none)\n", "README.md:1: docs/none is not there"),
    ("README.md", "see `base/none.c`\n", "README.md:1: base/none.c is not there"),
    ("src/base/a.c", "/* docs/design/none.md */\n", "src/base/a.c:1: docs/design/none.md is not there"),
    ("tests/base/a.py", "# pytorch-caching-allocator §9\n",
     "tests/base/a.py:1: pytorch-caching-allocator is a paper that is not in the repository"),
)
ALIVE = (
    ("docs/a.md", "[x](page.md#the-first-part), [y](https://pytorch.org/none.md), `[z](gone.md)`\n"),
    ("docs/a.md", "```\n[x](gone.md)\n```\n"),
    ("src/base/a.c", "/* docs/page.md, 2.1 */\n"),
    ("src/base/a.h", "/* notes.md stands beside this file */\n"),
)


def found(place, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, content in (("docs/page.md", PAGE), ("src/base/notes.md", PAGE), (place, text)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return list(complaints(root))


class Citations(unittest.TestCase):
    def test_what_cannot_be_opened_is_found_with_its_line(self):
        for place, text, line in DEAD:
            with self.subTest(text):
                self.assertEqual(found(place, text), [line])

    def test_what_can_be_opened_is_left_alone(self):
        for place, text in ALIVE:
            with self.subTest(text):
                self.assertEqual(found(place, text), [])


if __name__ == "__main__":
    unittest.main()
