#!/usr/bin/env python3
"""test_layering.py - layering.py finds what is wrong with a small bad tree, and only that."""
import pathlib
import tempfile
import unittest

from layering import complaints

TABLE = """
plim_room(base FLOOR 0 HEADERS status.h FILES a.c LIBS PkgConfig::zlib) # plim_room(fake FLOOR 0 FILES)
plim_room(history FLOOR 1 USES base HEADERS history.h event.h
    FILES h.c)
plim_room(pickle FLOOR 1 USES base FILES p.c)
plim_room(trace FLOOR 2 USES base history HEADERS recorder.h FILES t.c)
plim_room(load FLOOR 3 USES base trace FILES l.c)
plim_room(cli FLOOR 5 USES base FILES main.c)
"""
GOOD = {
    "src/CMakeLists.txt": TABLE,
    "src/base/a.c": '/* a.c - first. */\n#include "base/a.h"\n#include <stdio.h>\n',
    "src/base/a.h": "/* a.h - first. */\n",
    "src/history/h.c": '/* h.c - second. */\n#include "base/a.h"\n#include "plimsoll/history.h"\n',
    "src/pickle/p.c": '/* p.c - third. */\n#include "plimsoll/status.h"\n',
    "src/trace/t.c": '/* t.c - fourth. */\n#include "plimsoll/event.h"\n#include "plimsoll/recorder.h"\n',
    "src/load/l.c": '/* l.c - fifth. */\n#include "plimsoll/recorder.h"\n',
    "src/cli/main.c": '/* main.c - sixth. */\n#include "plimsoll/recorder.h"\n',
    "include/plimsoll/status.h": "/* status.h - promised. */\n",
    "include/plimsoll/event.h": '/* event.h - promised. */\n#include "plimsoll/status.h"\n',
    "include/plimsoll/history.h": '/* history.h - promised. */\n#include "plimsoll/event.h"\n',
    "include/plimsoll/recorder.h": '/* recorder.h - promised. */\n#include "plimsoll/history.h"\n',
}


class Layering(unittest.TestCase):
    def found(self, changes=()):
        """What is found in the good tree with some files changed."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**GOOD, **dict(changes)}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(complaints(root))

    def one(self, path, text, expected):
        found = self.found({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_good_tree_passes(self):
        self.assertEqual(self.found(), [])

    def test_a_lower_room_including_a_higher_one(self):
        self.one("src/base/a.h", '/* a. */\n#include "history/h.h"\n', "may not include history/h.h")

    def test_a_folder_including_one_above_it(self):
        table = TABLE.replace("plim_room(trace FLOOR 2 USES base history HEADERS recorder.h FILES t.c)",
                              "plim_room(trace FLOOR 2 USES base history HEADERS recorder.h\n"
                              "    FOLDERS in out FILES t.c in/a.c out/b.c)")
        tree = {"src/CMakeLists.txt": table,
                "src/trace/in/a.c": '/* a. */\n#include "trace/in/a.h"\n',
                "src/trace/in/a.h": "/* a. */\n",
                "src/trace/out/b.c": '/* b. */\n#include "trace/in/a.h"\n',
                "src/trace/t.c": '/* t. */\n#include "trace/in/a.h"\n'}
        self.assertEqual(self.found(tree), [])
        for include in ("trace/out/b.h", "trace/t.h"):
            found = self.found({**tree, "src/trace/in/a.h": f'/* a. */\n#include "{include}"\n'})
            self.assertEqual(found, [f"src/trace/in/a.h: may not include {include}, which stands above it"])

    def test_a_neighbour_on_the_same_floor(self):
        self.one("src/pickle/p.c", '/* p. */\n# include <history/h.h>\n', "not in its USES")

    def test_a_public_header_of_another_room(self):
        self.one("src/pickle/p.c", '/* p. */\n#include "plimsoll/history.h"\n', "not in its USES")

    def test_a_public_header_that_is_not_named_after_its_room(self):
        self.one("src/pickle/p.c", '/* p. */\n#include "plimsoll/event.h"\n',
                 "pickle may not include plimsoll/event.h (history is not in its USES)")

    def test_a_public_header_of_a_higher_room(self):
        self.one("src/history/h.c", '/* h. */\n#include "plimsoll/recorder.h"\n',
                 "trace is not in its USES")

    def test_a_public_header_that_includes_a_higher_one(self):
        self.one("include/plimsoll/event.h", '/* event. */\n#include "plimsoll/recorder.h"\n',
                 "include/plimsoll/event.h: history may not include plimsoll/recorder.h")

    def test_a_public_header_that_includes_the_inside_of_another_room(self):
        self.one("include/plimsoll/status.h", '/* status. */\n#include "history/h.h"\n',
                 "base may not include history/h.h")

    def test_what_is_reached_through_a_header_is_below_that_header(self):
        # load may not include event.h, and reaches it through recorder.h alone.
        self.one("src/load/l.c", '/* l. */\n#include "plimsoll/event.h"\n',
                 "history is not in its USES")
        self.assertEqual(self.found(), [])

    def test_a_public_header_of_no_room(self):
        self.one("include/plimsoll/lost.h", "/* lost. */\n", "the table gives it to no room")

    def test_a_public_header_of_two_rooms(self):
        self.one("src/CMakeLists.txt", TABLE.replace("HEADERS recorder.h", "HEADERS recorder.h status.h"),
                 "status.h belongs to base and to trace")

    def test_a_public_header_that_is_listed_and_missing(self):
        self.one("src/CMakeLists.txt", TABLE.replace("HEADERS recorder.h", "HEADERS recorder.h gone.h"),
                 "trace lists gone.h, which is not there")

    def test_a_table_that_climbs(self):
        self.one("src/CMakeLists.txt", TABLE.replace("USES base FILES p.c", "USES base history FILES p.c"),
                 "not a lower room")

    def test_a_room_nobody_listed(self):
        self.one("src/attic/x.c", "/* x.c - lost. */\n", "no room attic")

    def test_a_source_the_build_does_not_list(self):
        self.one("src/base/b.c", "/* b.c - forgotten. */\n", "the build does not list it")

    def test_a_source_that_is_listed_and_missing(self):
        self.one("src/CMakeLists.txt", TABLE.replace("a.c", "a.c z.c"), "not there")

    def test_an_include_without_its_room(self):
        self.one("src/base/a.c", '/* a. */\n#include "a.h"\n', "without its room")

    def test_a_file_that_does_not_introduce_itself(self):
        self.one("src/base/a.h", "#include <stdio.h>\n", "without saying")


if __name__ == "__main__":
    unittest.main()
