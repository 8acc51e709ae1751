#!/usr/bin/env python3
"""test_page.py - pages in notebooks and at prompts, and how far the work is."""

import html.parser
import io
import os
import re
import sys
import types
import unittest
from unittest import mock

import session  # noqa: F401 (puts the package into sys.path)
from plimsoll import _page, _progress

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Reading(html.parser.HTMLParser):
    """What a browser makes of it: the words in the page, and every tag."""

    def __init__(self, text):
        super().__init__()
        self.words = ""
        self.tags = []
        self._open = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "pre" in self._open:
            self.words += data


class Pages(unittest.TestCase):
    def test_words_are_text(self):
        for page in ("plain", "a < b & c > d \"e\" 'f'", "<script>alert(1)</script>", "</pre><img src=x>",
                     "&amp; &#60;", "\033[1m<b>\033[0m", "\033[1;31m&\033[0m\n  x\033[2my\033[0m", ""):
            read = Reading(_page.html(page))
            self.assertEqual(read.words, _page.plain(page))
            self.assertLessEqual({tag for tag, _ in read.tags}, {"style", "pre", "span"})

    def test_every_colour_of_the_command_has_a_class(self):
        with open(os.path.join(TOP, "src/report/term/style.c"), encoding="utf-8") as file:
            colours = set(re.findall(r'"\\033\[([0-9;]+)m"', file.read())) - {"0"}
        self.assertEqual(colours, set(_page._CLASSES))
        for colour in colours:
            (_, attributes), = [one for one in Reading(_page.html(f"\033[{colour}mx\033[0m")).tags
                                if one[0] == "span"]
            self.assertIn(f".plimsoll-page .{attributes['class']}{{", _page.html(""))

    def test_colours_that_do_not_end_or_are_unknown_are_no_harm(self):
        for page in ("\033[1mx", "\033[1ma\033[36mb\033[0mc", "\033[99mx\033[0m", "\033[mx", "\033[0m\033[0mx"):
            self.assertEqual(Reading(_page.html(page)).words, _page.plain(page))

    def test_nothing_comes_from_elsewhere(self):
        text = _page.html("\033[36mx\033[0m http://example.invalid/a.js")
        for word in ("url(", "@import", "src=", "href", "<link", "<script"):
            self.assertNotIn(word, text)

    def test_colours_are_seen_on_light_and_on_dark(self):
        def luminance(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear))

        def contrast(one, other):
            low, high = sorted((luminance(one), luminance(other)))
            return (high + 0.05) / (low + 0.05)

        colours = re.findall(r"color:(#[0-9a-f]{6})", _page._STYLE)
        self.assertEqual(len(colours), 4)
        for colour in colours:
            for ground in ("#ffffff", "#1e1e1e"):  # WCAG 2.2, 1.4.11: 3 at least
                self.assertGreaterEqual(contrast(colour, ground), 3.0, (colour, ground))

    def test_a_page_at_a_prompt(self):
        page = "\033[1mx\033[0m"

        def shown(is_terminal, **variables):
            clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
            stdout = types.SimpleNamespace(isatty=lambda: is_terminal)
            with mock.patch.dict(os.environ, {**clean, **variables}, clear=True), \
                    mock.patch.object(sys, "stdout", stdout):
                return _page.shown(page)

        self.assertEqual(shown(True, TERM="xterm"), page)
        self.assertEqual(shown(True, TERM="xterm", NO_COLOR=""), page)
        self.assertEqual(shown(True, TERM="xterm", NO_COLOR="1"), "x")
        self.assertEqual(shown(True, TERM="dumb"), "x")
        self.assertEqual(shown(False, TERM="xterm"), "x")
        with mock.patch.object(sys, "stdout", None):
            self.assertEqual(_page.shown(page), "x")


class View:
    def __init__(self, fails=False):
        self.seen = []
        self.fails = fails

    def show(self, step):
        self.seen.append(step)
        if self.fails:
            raise OSError("the front end has gone")

    def hide(self):
        self.seen.append(None)


class Reader(unittest.TestCase):
    def test_lines_in_any_pieces(self):
        text = b"1 2 bytes reading a  b.pickle\n"
        for size in range(1, len(text) + 1):
            view = View()
            reader = _progress.Reader(view)
            for start in range(0, len(text), size):
                reader.take(text[start:start + size])
            self.assertEqual(view.seen, [(1, 2, "bytes", "reading a  b.pickle")])
            reader.take(b"\n")
            reader.hide()
            self.assertEqual(view.seen[1:], [None])

    def test_the_last_of_many_is_shown(self):
        view = View()
        _progress.Reader(view).take(b"1 9 runs tuning\n2 9 runs tuning\n3 9")
        self.assertEqual(view.seen, [(2, 9, "runs", "tuning")])

    def test_what_is_no_line_is_nothing(self):
        for line in (b"\n", b"x\n", b"1 2\n", b"1 2 bytes\n", b"-1 2 bytes x\n", b"1 y bytes x\n", b"\xff\n"):
            view = View()
            _progress.Reader(view).take(line)
            self.assertEqual(view.seen, [])

    def test_a_view_that_fails_is_not_asked_again(self):
        view = View(fails=True)
        reader = _progress.Reader(view)
        reader.take(b"1 2 bytes x\n")
        reader.take(b"2 2 bytes x\n")
        reader.hide()
        self.assertEqual(len(view.seen), 1)

    def test_words(self):
        self.assertEqual(_progress.Step(1 << 30, 4 << 30, "bytes", "reading x").words,
                         "reading x  25%  1.00 GiB of 4.00 GiB")
        self.assertEqual(_progress.Step(3, 0, "runs", "tuning").words, "tuning  3 runs")
        self.assertEqual(_progress.Step(12345, 10000, "events", "replaying").words,
                         "replaying  100%  12,345 of 10,000 events")


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, bundle, raw):
        self.shown.append(bundle)


class Places(unittest.TestCase):
    def test_a_notebook_updates_one_output_and_leaves_it_empty(self):
        shown = []

        def display(bundle, raw, display_id):
            shown.append(bundle)
            return Handle(shown)

        module = types.ModuleType("IPython.display")
        module.display = display
        ipython = types.ModuleType("IPython")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        ipython.display = module
        with mock.patch.dict(sys.modules, {"IPython": ipython, "IPython.display": module}):
            with _progress.shown() as reader:
                reader.take(b"1 4 bytes reading <b>\n")
                reader.take(b"2 0 bytes reading <b>\n")
        self.assertEqual([one["text/plain"] for one in shown],
                         ["reading <b>  25%  1 B of 4 B", "reading <b>  2 B", ""])
        self.assertIn('<progress max="4" value="1">', shown[0]["text/html"])
        self.assertIn("&lt;b&gt;", shown[0]["text/html"])
        self.assertIn("<progress></progress>", shown[1]["text/html"])
        self.assertEqual(shown[2]["text/html"], "")

    def on(self, is_terminal, term="xterm"):
        stream = io.StringIO()
        stream.isatty = lambda: is_terminal
        with mock.patch.object(sys, "stderr", stream), mock.patch.dict(os.environ, {"TERM": term}):
            with _progress.shown() as reader:
                reader.take(b"1 2 bytes reading a\033[2Jb\n")
                with _progress.shown() as other:  # of another thread: the line is taken
                    other.take(b"1 2 bytes reading c\n")
        return stream.getvalue()

    def test_a_terminal_has_one_line_which_goes(self):
        self.assertEqual(self.on(True), "\rreading a?[2Jb  50%  1 B of 2 B\033[K\r\033[K")

    def test_elsewhere_nothing_is_shown(self):
        self.assertEqual(self.on(False) + self.on(True, "dumb"), "")
        with mock.patch.object(sys, "stderr", None):
            with _progress.shown() as reader:
                reader.take(b"1 2 bytes x\n")


if __name__ == "__main__":
    unittest.main()
