#!/usr/bin/env python3
"""test_explain.py PLIMSOLL - the command explain as its user meets it.

Pages of tests/data/messages are compared with tests/golden/message-*.txt; PLIM_BLESS=1 rewrites
those. The rest is about arguments, files, streams, exit statuses, and the document.
"""

import gzip
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
GOLDEN = pathlib.Path("tests/golden")
MESSAGES = pathlib.Path("tests/data/messages")
FULL = str(MESSAGES / "torch-full.txt")
FRAGMENTED = str(MESSAGES / "torch-fragmented.txt")
LEAK = str(MESSAGES / "leak.log")
LEVEL = str(MESSAGES / "level.log")
NOTHING = str(MESSAGES / "nothing.log")
SCREEN_LINES = 30
FIGURES = ("requested", "total", "free", "allocated", "reserved", "reserved_unallocated", "process",
           "other_processes", "limit", "private_pools", "other_allocations", "requested_from_shape",
           "shared_required", "shared_limit")
VERDICTS = ("unknown", "exhausted", "fragmented", "other_process", "capped", "oversized", "host",
            "not_oom")


def run(*arguments, stdin=b"", **streams):
    """The finished process, its streams as text."""
    clean = {key: value for key, value in os.environ.items()
             if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "PLIM_BLESS")}
    streams.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run([PLIMSOLL, "explain", *arguments], input=stdin, stderr=subprocess.PIPE,
                          env={**clean, "LC_ALL": "C.UTF-8"}, timeout=60, check=False, **streams)
    done.stdout = (done.stdout or b"").decode()
    done.stderr = done.stderr.decode()
    return done


class Explain(unittest.TestCase):
    maxDiff = None

    def expect(self, done, status, stderr_lines=0):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), stderr_lines, done.stderr)
        return done

    def document(self, *arguments, status=0, stderr_lines=0, stdin=b""):
        return json.loads(self.expect(run("--json", *arguments, stdin=stdin), status,
                                      stderr_lines).stdout)

    def check_golden(self, name, text):
        path = GOLDEN / f"message-{name}.txt"
        if os.environ.get("PLIM_BLESS"):
            path.write_text(text)
        self.assertTrue(path.exists(), f"{path} is not there; PLIM_BLESS=1 writes it")
        self.assertEqual(path.read_text(), text)

    # --- pages

    def test_messages_read_as_approved(self):
        for path in sorted(MESSAGES.glob("*.[tl]*")):
            if path.name == "nothing.log":
                continue
            with self.subTest(path.name):
                done = run(str(path))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLessEqual(len(done.stdout.splitlines()), SCREEN_LINES)
                self.check_golden(path.name.rsplit(".", 1)[0], done.stdout)

    def test_the_trend_reads_as_approved(self):
        self.check_golden("leak-trend", self.expect(run("--trend", LEAK), 0).stdout)
        self.check_golden("level-trend",
                          self.expect(run("--trend", "--capacity=24GiB", LEVEL), 0).stdout)

    def test_lines_keep_to_the_width_but_commands_are_whole(self):
        for width in (60, 80, 133):
            for path in (FULL, FRAGMENTED, LEAK):
                page = self.expect(run(f"--width={width}", "--all", path), 0).stdout
                for line in page.splitlines():
                    if len(line) > width:
                        self.assertRegex(line, r"^      \S")

    def test_top_and_all(self):
        def fixes(*words):
            return len(re.findall(r"(?m)^  \d\. ", self.expect(run(*words, FRAGMENTED), 0).stdout))
        self.assertEqual(fixes("--top=1"), 1)
        self.assertEqual(fixes("--all"), len(self.document(FRAGMENTED)["messages"][0]["advice"]))

    def test_several_texts_go_under_their_names(self):
        page = self.expect(run(FULL, NOTHING, FRAGMENTED), 0, 1).stdout
        self.assertEqual([line for line in page.splitlines() if line.startswith("tests/")],
                         [FULL, FRAGMENTED])

    def test_hostile_texts_are_shown_harmlessly(self):
        text = (b"\033]0;title\a\033[31mRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\033[0m\r\n"
                b"\xff\xfe\x00\x07 \xe2\x80\xae reversed\n") * 3
        done = self.expect(run(stdin=text), 0)
        self.assertNotRegex(done.stdout, r"[\x00-\x09\x0b-\x1f\x7f\u202e]")

    # --- texts

    def test_standard_input_is_read_with_and_without_a_dash(self):
        text = pathlib.Path(FULL).read_bytes()
        named = self.expect(run(FULL), 0).stdout
        for words in ((), ("-",)):
            self.assertEqual(self.expect(run(*words, stdin=text), 0).stdout, named)
        self.assertEqual(self.document(stdin=text)["files"][0]["file"], "-")

    def test_a_terminal_is_not_waited_for(self):
        try:
            control, terminal = pty.openpty()
        except OSError as error:  # a chroot or container without /dev/pts
            raise unittest.SkipTest(f"no pseudo-terminal: {error}") from error
        try:
            done = subprocess.run([PLIMSOLL, "explain"], stdin=terminal, capture_output=True,
                                  timeout=60, check=False)
        finally:
            os.close(control)
            os.close(terminal)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b'"plimsoll explain -"', done.stderr)

    def test_compressed_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.gz")
            with open(path, "wb") as file:
                file.write(gzip.compress(pathlib.Path(FULL).read_bytes()))
            self.assertEqual(self.expect(run(path), 0).stdout, self.expect(run(FULL), 0).stdout)

    def test_nothing_found_is_fine_and_said(self):
        done = self.expect(run(NOTHING), 0, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("no out-of-memory message found", done.stderr)
        self.assertIn("3 lines", done.stderr)
        self.assertEqual(self.document(NOTHING, stderr_lines=1)["messages"], [])
        self.assertIn("no series", self.expect(run("--trend", FULL), 0, 1).stderr)

    def test_a_text_with_only_a_series_shows_that(self):
        done = self.expect(run(LEVEL), 0, 1)
        self.assertIn("max_memory_allocated", done.stdout)

    def test_texts_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = os.path.join(folder, "broken.gz")
            with open(broken, "wb") as file:
                file.write(gzip.compress(os.urandom(1000))[:200])
            for path in (folder, os.path.join(folder, "missing"), broken):
                done = self.expect(run(path), 3, 1)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith("plimsoll explain: "), done.stderr)
        done = self.expect(run("missing.log", FULL), 3, 1)
        self.assertIn("Out of memory", done.stdout)
        document = self.document("missing.log", FULL, status=3, stderr_lines=1)
        self.assertEqual(document["files"][0]["error"]["status"], "PLIM_IO")
        self.assertEqual([one["file"] for one in document["messages"]], [FULL])
        self.assertEqual(document["main"], 0)

    # --- arguments

    def test_wrong_usage(self):
        for words in (("--nonsense",), ("--capacity=much", FULL), ("--capacity=80", FULL),
                      ("--capacity=0", FULL), ("--top=0", FULL), ("--fail-on=", FULL), ("--fail-on=full", FULL),
                      ("--color=blue", FULL), ("--width=10", FULL), ("--",),
                      (FULL, "--", "true"), ("--fail-on=oom", "--", "true")):
            done = run(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.startswith("plimsoll explain: "), done.stderr)

    def test_fail_on(self):
        for what, path, status in (("oom", FULL, 1), ("oom", NOTHING, 0), ("fragmented", FULL, 0),
                                   ("fragmented", FRAGMENTED, 1), ("exhausted,fragmented", FULL, 1),
                                   ("leak", LEAK, 1), ("leak", LEVEL, 0),
                                   ("oom", str(MESSAGES / "triton.txt"), 0),
                                   ("not_oom", str(MESSAGES / "triton.txt"), 1)):
            with self.subTest(what=what, path=path):
                self.assertEqual(run(f"--fail-on={what}", path).returncode, status)
        self.assertEqual(run("--fail-on=oom", FULL, "missing.log").returncode, 3)

    # --- the document

    def test_the_document_has_what_is_promised(self):
        for path in sorted(MESSAGES.glob("*.[tl]*")):
            with self.subTest(path.name):
                document = json.loads(run("--json", str(path)).stdout)
                text = path.read_bytes()
                self.assertEqual(document["schema"], "explain/1")
                self.assertEqual(document["bytes"], len(text))
                self.assertEqual(document["lines"], text.count(b"\n"))
                for message in document["messages"]:
                    self.check_message(message, text)
                if document["messages"]:
                    self.assertIn(document["main"], range(len(document["messages"])))

    def check_message(self, message, text):
        for name in FIGURES:
            figure = message[f"{name}_bytes"]
            self.assertTrue(figure is None or isinstance(figure, int), name)
        for name, (offset, length) in message["places"].items():
            place = text[offset:offset + length].decode()
            self.assertRegex(place, r"\d", f"{name} stands at {place!r}")
            self.assertIsNotNone(message[name])
        self.assertIn(message["verdict"], VERDICTS)
        self.assertNotIn(message["verdict"], message["alternatives"])
        self.assertTrue(0 <= message["confidence"] <= 1)
        self.assertTrue(message["why"].endswith("."), message["why"])
        self.assertEqual(text[:message["offset"]].count(b"\n") + 1, message["line"])
        for advice in message["advice"]:
            self.assertEqual(set(advice), {"id", "text", "command", "source"})

    def test_figures_are_those_that_are_printed(self):
        message = self.document(FULL)["messages"][0]
        gib = 1 << 30
        for name, size in (("requested_bytes", 3.91), ("total_bytes", 23.64), ("free_bytes", 1.83),
                           ("process_bytes", 21.80), ("allocated_bytes", 20.77)):
            self.assertEqual(message[name], round(size * gib), name)
        self.assertEqual(message["reserved_unallocated_bytes"], round(561.40 * (1 << 20)))
        self.assertIsNone(message["limit_bytes"])
        self.assertEqual((message["verdict"], message["device"], message["line"], message["count"]),
                         ("exhausted", 0, 11, 1))

    def test_the_series_of_a_leak(self):
        series = self.document(LEAK)["series"]
        self.assertEqual(series["name"], "max_memory_allocated")
        self.assertEqual(series["class"], "leak")
        self.assertAlmostEqual(series["growth_bytes_per_step"] / (3.14 * (1 << 20)), 1, delta=0.02)
        self.assertLessEqual(series["growth_low_bytes_per_step"], series["growth_bytes_per_step"])
        self.assertEqual((series["first_step"], series["last_step"], series["points"]),
                         (10, 4800, 480))
        self.assertTrue(series["advice"])
        self.assertEqual(series["capacity_bytes"], round(23.64 * (1 << 30)))
        self.assertEqual(self.document(FULL)["series"], {})

    def test_capacity_tells_when_memory_is_full(self):
        near = self.document("--capacity=30GiB", LEAK)["series"]["exhaustion_step"]
        far = self.document("--capacity=40GiB", LEAK)["series"]["exhaustion_step"]
        self.assertLess(4800, near)
        self.assertAlmostEqual((far - near) * 3.14 / 10240, 1, delta=0.05)

    def test_the_same_bytes_each_time(self):
        for words in (("--json",), (), ("--trend",)):
            self.assertEqual(len({run(*words, LEAK).stdout for _ in range(3)}), 1)

    # --- a command

    def test_a_command_that_is_fine_is_left_alone(self):
        done = self.expect(run("--", "sh", "-c", "cat; exit 7", stdin=b"through\n"), 7)
        self.assertEqual(done.stdout, "through\n")

    def test_a_command_that_runs_out_is_explained_on_stderr(self):
        done = run("--", "sh", "-c", f"echo before; cat {FULL} >&2; exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "before\n")
        self.assertIn("Out of memory: GPU 0 is exhausted", done.stderr)
        self.assertIn("torch.cuda.memory._record_memory_history()", done.stderr)
        self.assertIn("plimsoll diagnose snapshot.pickle", done.stderr)

    def test_a_command_that_survives_is_not_explained(self):
        self.assertEqual(run("--", "cat", FULL).stderr, "")

    def test_a_command_that_is_not_there(self):
        self.assertEqual(run("--", "no-such-command-here").returncode, 127)

    # --- output

    def test_output_that_is_refused_is_noticed(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        for words in (("--json", FULL), (FULL,), ("--help",)):
            with open("/dev/full", "wb") as full:
                self.expect(run(*words, stdout=full), 3, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # so that the reasons of skipped tests are printed
