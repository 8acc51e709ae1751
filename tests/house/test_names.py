#!/usr/bin/env python3
"""test_names.py - names.py finds a name that means two things, and nothing else."""
import pathlib
import tempfile
import unittest

from names import complaints

PAIRS = (
    ("typedef struct plim_span {\n    int a;\n} plim_span;\n", "typedef enum plim_span { A } plim_span;\n", "plim_span"),
    ("struct walk;\nstruct walk {\n    int at;\n};\n", "typedef struct walk {\n    int to;\n} walk;\n", "walk"),
    ("typedef struct {\n    struct {\n        int b;\n    } in;\n} place;\n", "typedef int place;\n", "place"),
    ("enum { PLIM_CALL_MAP = (1 << 2), PLIM_LAST };\n", "enum {\n    PLIM_NEXT,\n    PLIM_CALL_MAP\n};\n", "PLIM_CALL_MAP"),
    ("#define PLIM_ROWS 12\n", "#define PLIM_ROWS 12\n", "PLIM_ROWS"),
    ("typedef void (*plim_call)(int a);\n", "typedef int plim_call;\n", "plim_call"),
    ("int plim_count(int a)\n{\n    return a;\n}\n", "typedef int plim_count;\n", "plim_count"),
)
FINE = (
    ("typedef struct plim_a plim_a;\n", "typedef struct plim_a {\n    int b;\n} plim_a;\n"),
    ("typedef plim_long_name short_name;\n", "typedef plim_long_name short_name;\n"),
    ("#define PLIM_ROW(a) a,\n#undef PLIM_ROW\n", "#define PLIM_ROW(b) b;\n"),
    ("static int find(int a)\n{\n    return a;\n}\n", "static int find(int b)\n{\n    return b;\n}\n"),
    ("/* typedef int word; */\n", "typedef int word;\n"),
    ("int plim_count(int a);\n", "int plim_count(int a)\n{\n    return a;\n}\n"),
    ("struct plim_b *make(void);\n", "struct plim_b {\n    int c;\n};\n"),
)


def found(first, second):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for place, text in (("include/plimsoll", first), ("src/base", second)):
            (root / place).mkdir(parents=True)
            (root / place / "a.h").write_text(text)
        return list(complaints(root))


class Names(unittest.TestCase):
    def test_a_name_that_means_two_things_is_found_with_its_places(self):
        for first, second, name in PAIRS:
            with self.subTest(name):
                lines = found(first, second)
                self.assertEqual(len(lines), 1, lines)
                self.assertTrue(lines[0].startswith(f"{name}: "), lines)
                self.assertIn("include/plimsoll/a.h", lines[0])
                self.assertIn("src/base/a.h", lines[0])

    def test_one_thing_that_is_named_twice_is_left_alone(self):
        for first, second in FINE:
            with self.subTest(first):
                self.assertEqual(found(first, second), [])


if __name__ == "__main__":
    unittest.main()
