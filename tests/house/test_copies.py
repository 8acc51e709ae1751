#!/usr/bin/env python3
"""test_copies.py - copies.py finds second definitions of what base has, and nothing else."""
import pathlib
import tempfile
import unittest

from copies import complaints, copies

COPIES = (
    ("#define MIB ((uint64_t)1 << 20)\n", "MIB"),
    ("#define SAMPLE_GIB  ((uint64_t)1 << 30)\n", "SAMPLE_GIB"),
    ("#define KIB UINT64_C(1024)\n", "KIB"),
    ("#define MIB (1024.0 * 1024.0)\n", "MIB"),
    ("#define GIB UINT64_C(0x40000000)\n", "GIB"),
    ("static uint64_t least(uint64_t a, uint64_t b)\n{\n    return a < b ? a : b;\n}\n", "least"),
    ("static size_t cut(size_t n, size_t most)\n{\n    return n > most ? most : n;\n}\n", "cut"),
    ("double larger(double a, double b)\n{\n    return a > b ? a : b;\n}\n", "larger"),
    ("static uint64_t less(uint64_t a, uint64_t b)\n{\n    return a > b ? a - b : 0;\n}\n", "less"),
    ("static uint64_t plus(uint64_t a, uint64_t b)\n{\n"
     "    return a > UINT64_MAX - b ? UINT64_MAX : a + b;\n}\n", "plus"),
    ("if (*at >= '0' && *at <= '9') {\n", "0 to 9"),
)
OTHERS = (
    "#define SIZES_PER_MIB ((size_t)64 << 10)\n#define RINGS_MIB UINT64_C(288)\n",
    "#define LARGE_BYTES (20 * MIB)\n",
    "static double past(double x, double knot)\n{\n    return x > knot ? x - knot : 0;\n}\n",
    "static int later(int a, int b)\n{\n    return a < b ? -1 : a > b;\n}\n",
    "static int pick(int a, int b)\n{\n    return a < b ? b - a : a - b;\n}\n",
)


class Copies(unittest.TestCase):
    def test_a_copy_under_any_name_is_found_with_its_line(self):
        for text, name in COPIES:
            with self.subTest(name):
                self.assertEqual([(line, found) for line, found, _ in copies("\n\n" + text)],
                                 [(3, name)])

    def test_what_only_looks_alike_is_left_alone(self):
        for text in OTHERS:
            with self.subTest(text):
                self.assertEqual(list(copies(text)), [])

    def test_base_may_define_what_it_has_and_examples_are_users(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for place in ("src/base", "examples", "tests/alloc"):
                (root / place).mkdir(parents=True)
                (root / place / "a.h").write_text(COPIES[0][0])
            self.assertEqual(list(complaints(root)),
                             ["tests/alloc/a.h:1: MIB is a copy of base/units.h"])


if __name__ == "__main__":
    unittest.main()
