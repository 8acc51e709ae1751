#!/usr/bin/env python3
"""test_pages.py PLIMSOLL - all that a page says is in its document.

Every line that inspect, explain, replay and tune print over our recordings, rehearsals and messages is
found, word by word, among what the document of the same run "says"; every number of a sentence is
among its figures; and no rendering makes words: src/report/term and src/report/json format no prose
and know nothing of the library but what the model hands them.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
DRAWN = re.compile("[█▏▎▍▌▋▊▉▁▂▃▄▅▆▇░▒━─│└▲]")
SHORT = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: ?([KMGTPE]iB|B)\b|(%))?")
UNITS = {unit: 1024**i for i, unit in enumerate(["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])}


def run(*words):
    return subprocess.run([PLIMSOLL, *map(str, words)], capture_output=True, check=False)


def unlike(pairs):
    """An object, in which no member hides another."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a member twice: {names}"
    return dict(pairs)


def words_of(cell):
    """A cell's words; a bar has none."""
    return cell if isinstance(cell, str) else cell.get("text", "")


def one_line(text):
    # what a terminal is not given, it does not show: compare only what both may have
    return " ".join(re.sub("[^\x20-\x7e·×←…█▏▎▍▌▋▊▉▁▂▃▄▅▆▇░▒━─│└▲]+", "�", text).split())


def lines_of(item):
    """The lines an item may be drawn as, where the page is wide enough."""
    if "text" in item and "rows" not in item:
        return [one_line((item.get("lead", "") + " " + item["text"]))]
    lines = []
    for row in item.get("rows", []):
        lines.append(one_line(" ".join(words_of(cell) for cell in row["cells"])))
        lines += [one_line(words_of(below)) for below in row.get("below", [])]
    if "columns" in item:
        lines.append(one_line(" ".join(item["columns"])))
    return lines


def pieces_of(item):
    """What stands around a drawing."""
    pieces = [item.get(name) or "" for name in ("title", "low", "high", "top", "foot", "from", "to",
                                                "end", "request")]
    pieces += item.get("marks", []) + [part["text"] or "" for part in item.get("parts", [])]
    return pieces


class Pages(unittest.TestCase):
    maxDiff = None

    def check_page(self, *words):
        done = run(*words, "--json")
        page = run(*words, "--width=400", "--color=never").stdout.decode()
        if done.returncode not in (0, 1) or not done.stdout:
            return
        says = json.loads(done.stdout, object_pairs_hook=unlike)["says"]
        lines = {line for item in says for line in lines_of(item)}
        around = one_line(" ".join(piece for item in says for piece in pieces_of(item)))
        for line in page.splitlines():
            plain = one_line(line)
            if plain and plain not in lines:
                # drawings, and rows with bars in them; a mark below a chart is an x
                rest = one_line(DRAWN.sub(" ", plain))
                self.assertTrue(rest in lines or rest.endswith("…") or
                                all(word in around or word == "x" for word in rest.split()),
                                f"{words}: the document does not say: {plain}")
        for item in says:
            if "text" in item:
                self.check_figures(words, item)

    def check_figures(self, words, item):
        """Sizes and shares of a sentence that the commands made are among its figures."""
        values = list(item.get("figures", {}).values())
        if not values:
            return
        for number, unit, share in SHORT.findall(item["text"]):
            if unit:
                near = float(number.replace(",", "")) * UNITS[unit]
                self.assertTrue(any(abs(value - near) <= 0.006 * near + 1 for value in values)
                                or number + " " + unit == "2 MiB",
                                f"{words}: {number} {unit} is no figure of: {item}")

    def test_recordings(self):
        for path in sorted((DATA / "recordings").glob("*.pickle*")):
            with self.subTest(path.name):
                self.check_page("inspect", path)
                self.check_page("inspect", "--all-frames", "--top=3", path)
                self.check_page("replay", path)
                self.check_page("replay", "--verify", "--conf=expandable_segments:True", path)
        self.check_page("inspect", *sorted((DATA / "recordings").glob("*.pickle*")))

    def test_searches(self):
        for name in ("out_of_memory.pickle", "streams.pickle"):
            with self.subTest(name):
                self.check_page("tune", "--capacity=1900MiB", DATA / "recordings" / name)

    def test_messages(self):
        paths = [path for path in sorted((DATA / "messages").iterdir())
                 if path.suffix in (".txt", ".log")]
        for path in paths:
            with self.subTest(path.name):
                self.check_page("explain", path)
                self.check_page("explain", "--all", path)
                self.check_page("explain", "--trend", path)
        self.check_page("explain", *paths)

    def test_rehearsals(self):
        for path in sorted((DATA / "rehearsals").rglob("*.pickle*")):
            with self.subTest(path.name):
                self.check_page("inspect", path)
                self.check_page("replay", path)


class Renderings(unittest.TestCase):
    """Who draws makes no words, and no figures but columns."""

    def check_sources(self, folder, pattern, allowed=()):
        for path in sorted((ROOT / "src/report" / folder).glob("*.[ch]")):
            code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for found in re.findall(pattern, code):
                if (path.name, found) not in allowed and found not in allowed:
                    self.fail(f"report/{folder}/{path.name}: {found}")

    def test_no_prose_is_formatted(self):
        self.check_sources("term", r"\bv?snprintf\b|\bplim_format_\w+|\bprintf\b")
        self.check_sources("json", r"\bv?snprintf\b|\bplim_format_\w+|\bprintf\b",
                           {("explain_json.c", "snprintf")})  # the name of a member

    def test_no_sentence_stands_in_a_rendering(self):
        self.check_sources("term", r'"[^"\n]*[A-Za-z]{2,} [A-Za-z]{2,}[^"\n]*"')
        self.check_sources("json", r'"[^"\n]*[A-Za-z]{2,} [A-Za-z]{2,}[^"\n]*"', {
            '"cannot write the document"', '"comparing ranks"', '"both are null"'})

    def test_the_library_is_the_models_alone(self):
        self.check_sources("term", r'#include "plimsoll/\w+\.h"', {'#include "plimsoll/api.h"'})
        self.check_sources("json", r'#include "plimsoll/\w+\.h"')


if __name__ == "__main__":
    unittest.main()
