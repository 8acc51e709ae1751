#!/usr/bin/env python3
"""test_page.py - docs/commands/techniques.md lists the techniques of the table, with their labels, and
what excludes what; the agent has a switch for each.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "src/technique/technique.c").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/commands/techniques.md").read_text(encoding="utf-8")
LABELS = {"SAME": "same result", "IN_EXPECTATION": "same in expectation", "CHANGED": "changed"}
sys.path.insert(0, str(ROOT / "src/agent"))


def rows():
    """[("checkpoint=every:K", "same result")], in the order of the table."""
    return [(name + ("=" + form if form else ""), LABELS[label]) for name, form, label in
            re.findall(r'\{ "(\w+)", "([^"]*)", (\w+), \w+, "[^"]+" \}', SOURCE)]


class Page(unittest.TestCase):
    def test_it_lists_the_table(self):
        self.assertGreater(len(rows()), 20)
        table = PAGE[:PAGE.index("These do not go together")]
        self.assertEqual(re.findall(r"^\| `([^`]+)` \| ([\w ]+) \|", table, re.M), rows())

    def test_it_lists_what_excludes_what(self):
        source = SOURCE[SOURCE.index("excluded[]"):]
        pairs = re.findall(r'\{ "([^"]+)", "([^"]+)",\s*"([^"]+)" \}', source)
        self.assertGreater(len(pairs), 10)
        shown = PAGE[PAGE.index("These do not go together"):]
        self.assertEqual(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| ([^|]+) \|$", shown, re.M), pairs)

    def test_the_agent_has_a_switch_for_each(self):
        from plimsoll_agent.switches.table import row_of

        for text, _ in rows():
            name, _, form = text.partition("=")
            if name != "conf":
                row = row_of(name, form)
                self.assertIsNotNone(row, text)
                self.assertTrue((ROOT / f"src/agent/plimsoll_agent/switches/{row[1]}.py").exists())


if __name__ == "__main__":
    unittest.main()
