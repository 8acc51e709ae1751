#!/usr/bin/env python3
"""test_techniques.py - names of techniques: those that the agent writes are those of the format's
description, and those by which advice is chosen are among them.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Techniques that no fix asks for.
WITHOUT_ADVICE = {"CUDA graphs", "optimizer in backward", "inference without gradients"}


def described():
    """The names in the table of docs/formats/rehearse-json.md."""
    lines = (ROOT / "docs/formats/rehearse-json.md").read_text(encoding="utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("| `technique` | `"))
    names = []
    for line in lines[first:]:
        row = re.match(r"\| (?:`technique`)? ?\| `([^`]+)` \|", line)
        if row is None:
            break
        names.append(row[1])
    return names


def advised():
    """The names in the table of src/rehearse/advise.c."""
    text = (ROOT / "src/rehearse/advise.c").read_text(encoding="utf-8")
    table = re.search(r"\} techniques\[\] = \{(.*?)\n\};", text, re.DOTALL)[1]
    return re.findall(r'\{ "([^"]+)", PLIM_IN_FORCE_\w+ \}', table)


class Techniques(unittest.TestCase):
    def test_the_agent_writes_each_that_is_described(self):
        agent = "\n".join(path.read_text(encoding="utf-8")
                          for path in sorted((ROOT / "src/agent/plimsoll_agent").glob("*.py")))
        names = described()
        self.assertGreater(len(names), 9)
        for name in names:
            self.assertIn(f'"{name}"', agent)

    def test_advice_knows_each_that_is_described(self):
        self.assertEqual(set(advised()) | WITHOUT_ADVICE, set(described()))
        self.assertEqual(set(advised()) & WITHOUT_ADVICE, set())


if __name__ == "__main__":
    unittest.main()
