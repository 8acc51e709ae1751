#!/usr/bin/env python3
"""test_export.py PLIMSOLL - exports of our recordings: what each file holds, and that its sums are
those of `inspect`, to the byte.

Runs from the top of the tree.
"""

import csv
import gzip
import io
import json
import os
import pathlib
import pickle
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
RECORDINGS = sorted(str(path) for path in pathlib.Path("tests/data/recordings").glob("*.pickle*"))
TRAIN = "tests/data/recordings/train_gpt.pickle"
LEAK = "tests/data/recordings/leak.pickle.gz"
TWO_DEVICES = "tests/data/recordings/two_devices.pickle.gz"


def run(*arguments, stdin=b"", stdout=subprocess.PIPE):
    return subprocess.run([PLIMSOLL, *map(str, arguments)], input=stdin, stdout=stdout,
                          stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=120,
                          check=False)


def inspect(path):
    """{device: its inspection}"""
    done = run("inspect", "--json", path)
    assert done.returncode == 0, done.stderr
    return {device["device"]: device for device in json.loads(done.stdout)["files"][0]["devices"]}


def folded(text):
    """[(frames, figures)], read as flamegraph.pl reads a line: the last one or two numbers are figures."""
    rows = []
    for line in text.decode("utf-8").splitlines():
        stack, last = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line).groups()
        figures = [int(last)]
        before = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", stack)
        if before:
            stack = before[1]
            figures.insert(0, int(before[2]))
        rows.append((stack.split(";"), figures))
    return rows


class Export(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, source, name, *options):
        """The document `export/1`, and the bytes that were written."""
        done = run("export", source, "-o", self.folder / name, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "export/1")
        data = (self.folder / name).read_bytes()
        self.assertEqual(document["output_bytes"], len(data))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(self.made | {name}))
        self.made = self.made | {name}
        return document, data

    made = frozenset()

    def refuse(self, status, message, *arguments):
        done = run("export", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr.decode(), message)
        self.assertEqual(len(done.stderr.splitlines()[:1]), 1)
        self.assertEqual(done.stdout, b"")

    # --- sums

    def test_speedscope_weighs_what_inspect_reports(self):
        for i, source in enumerate(RECORDINGS):
            with self.subTest(source):
                facts = inspect(source)
                report, data = self.export(source, f"{i}.speedscope.json")
                document = json.loads(data)
                frames = document["shared"]["frames"]
                self.assertEqual(len(document["profiles"]), 2 * len(facts))
                self.assertRegex(document["exporter"], r"^plimsoll@\d")
                self.assertEqual(len({json.dumps(frame) for frame in frames}), len(frames))
                for part, profile in zip(report["profiles"], document["profiles"]):
                    self.assertEqual(len(profile["samples"]), len(profile["weights"]))
                    self.assertEqual(sum(profile["weights"]), profile["endValue"])
                    self.assertEqual(part["bytes"], profile["endValue"])
                    self.assertTrue(all(0 <= one < len(frames) for stack in profile["samples"] for one in stack))
                    self.assertTrue(all(profile["samples"]))
                    if part["at"]["name"] == "peak":
                        peak = facts[part["device"]]["peak"]
                        self.assertEqual(profile["endValue"], peak["requested_bytes"])
                        self.assertEqual(part["allocations"], peak["live_count"])
                    else:
                        self.assertEqual(profile["endValue"], facts[part["device"]]["end"]["requested_bytes"])

    def test_folded_stacks_weigh_what_inspect_reports(self):
        for i, source in enumerate(RECORDINGS):
            with self.subTest(source):
                facts = inspect(source)
                rows = folded(self.export(source, f"{i}.folded")[1])
                for device, fact in facts.items():
                    sums = [figures[0] for frames, figures in rows
                            if len(facts) == 1 or frames[0] == f"GPU {device}"]
                    self.assertEqual(sum(sums), fact["peak"]["requested_bytes"])
                self.assertTrue(all(len(figures) == 1 and all(frames) for frames, figures in rows))

    def test_a_difference_has_both_figures_and_growth_one(self):
        span = ("--from", "step:1:end", "--until", "step:4:end")
        both = folded(self.export(LEAK, "both.folded", "--what", "difference", *span)[1])
        grown, data = self.export(LEAK, "grown.folded", "--what", "growth", *span)
        before = folded(self.export(LEAK, "before.folded", "--at", "step:1:end")[1])
        after = folded(self.export(LEAK, "after.folded", "--at", "step:4:end")[1])
        self.assertTrue(all(len(figures) == 2 for _, figures in both))
        for column, rows in enumerate((before, after)):
            self.assertEqual(sum(figures[column] for _, figures in both), sum(one[0] for _, one in rows))
        self.assertEqual(sum(figures[0] for _, figures in folded(data)),
                         sum(max(0, new - old) for _, (old, new) in both))
        part = grown["profiles"][0]
        self.assertEqual(part["shrunk_bytes"], sum(max(0, old - new) for _, (old, new) in both))
        self.assertEqual(part["bytes"] - part["shrunk_bytes"],
                         sum(figures[0] for _, figures in after) - sum(figures[0] for _, figures in before))

    def test_churn_is_all_that_was_allocated_and_temporary_is_part_of_it(self):
        churn = self.export(TRAIN, "churn.folded", "--what", "churn")[0]["profiles"][0]
        with open(TRAIN, "rb") as file:
            events = pickle.load(file)["device_traces"][0]
        allocs = [event["size"] for event in events if event["action"] == "alloc"]
        self.assertEqual(churn["bytes"], sum(allocs))
        self.assertEqual(churn["allocations"], len(allocs))
        brief = self.export(TRAIN, "brief.folded", "--what", "temporary")[0]["profiles"][0]
        self.assertTrue(0 < brief["bytes"] < churn["bytes"])

    # --- whole recordings

    def test_snapshots_and_recordings_are_read_back_as_they_were(self):
        for i, source in enumerate(RECORDINGS):
            for name in (f"{i}.pickle", f"{i}.pickle.gz", f"{i}.plim"):
                with self.subTest(source=source, name=name):
                    self.export(source, name)
                    before, after = inspect(source), inspect(self.folder / name)
                    self.assertEqual({device: fact["peak"] for device, fact in before.items()},
                                     {device: fact["peak"] for device, fact in after.items()})

    # --- tables

    def test_sqlite_has_the_tables_and_views_and_their_sums(self):
        for i, source in enumerate(RECORDINGS):
            with self.subTest(source):
                facts = inspect(source)
                self.export(source, f"a b%3f{i}.sqlite")
                base = sqlite3.connect(self.folder / f"a b%3f{i}.sqlite")
                self.addCleanup(base.close)
                self.assertEqual(base.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                self.assertEqual(base.execute("PRAGMA foreign_key_check").fetchall(), [])
                self.assertEqual(base.execute("PRAGMA user_version").fetchone()[0], 1)
                names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
                for name in names:
                    base.execute(f'SELECT * FROM "{name}" LIMIT 3').fetchall()
                self.assertTrue({"events", "allocations", "stacks", "frames", "segments", "blocks", "steps", "moments",
                                 "findings", "peak_by_stack", "named_moments"} <= set(names))
                for device, fact in facts.items():
                    one = lambda sql: base.execute(sql, (device,)).fetchone()[0]
                    peak = fact["peak"]
                    self.assertEqual(one("SELECT SUM(requested_bytes) FROM peak_by_stack WHERE device = ?"),
                                     peak["requested_bytes"])
                    self.assertEqual(one("SELECT SUM(allocations) FROM peak_by_stack WHERE device = ?"), peak["live_count"])
                    self.assertEqual(one("SELECT SUM(requested_bytes) FROM by_category_at_peak WHERE device = ?"),
                                     peak["requested_bytes"])
                    self.assertEqual(one("SELECT requested_bytes FROM named_moments WHERE device = ? AND moment = 'peak'"),
                                     peak["requested_bytes"])
                    self.assertEqual(one("SELECT MAX(requested_bytes) FROM moments WHERE device = ?"),
                                     peak["requested_bytes"])
                    self.assertEqual(one("SELECT COUNT(*) FROM events WHERE device = ?"), fact["events"])
                    self.assertEqual(one("SELECT SUM(bytes) FROM segments WHERE device = ?"), fact["end"]["reserved_bytes"])

    def test_views_of_the_file_name_frames_as_those_of_stacks(self):
        self.export(TRAIN, "a.db")
        base = sqlite3.connect(self.folder / "a.db")
        self.addCleanup(base.close)
        frames = dict(base.execute("SELECT id, frame FROM stacks"))
        for view in ("peak_by_stack", "live_at_end", "never_freed", "temporaries", "churn_by_stack"):
            rows = base.execute(f"SELECT stack, frame FROM {view}").fetchall()
            self.assertTrue(rows, view)
            self.assertEqual([frames.get(stack) for stack, _ in rows], [frame for _, frame in rows])

    def test_csv_has_the_rows_of_a_table(self):
        for name, options in (("allocations", ()), ("events", ("--table", "events")),
                              ("peak_by_stack", ("--table", "peak_by_stack"))):
            data = self.export(LEAK, f"{name}.csv", *options)[1]
            rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
            self.export(LEAK, f"{name}.db")
            base = sqlite3.connect(self.folder / f"{name}.db")
            self.addCleanup(base.close)
            self.assertEqual(len(rows), base.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0])
            self.assertEqual(list(rows[0]), [row[1] for row in base.execute(f"PRAGMA table_info({name})")])
        self.assertEqual(sum(int(row["requested_bytes"]) for row in rows),
                         inspect(LEAK)[0]["peak"]["requested_bytes"])

    # --- files

    def test_gz_is_the_same_compressed(self):
        plain = self.export(TRAIN, "a.folded")[1]
        self.assertEqual(gzip.decompress(self.export(TRAIN, "a.folded.gz")[1]), plain)

    def test_the_same_recording_gives_the_same_bytes(self):
        for ending in (".speedscope.json", ".folded", ".folded.gz", ".pickle", ".plim", ".sqlite", ".csv"):
            self.assertEqual(self.export(TRAIN, "a" + ending)[1], self.export(TRAIN, "b" + ending)[1])

    def test_standard_output_takes_what_a_file_would(self):
        done = run("export", TRAIN, "--to", "folded", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.export(TRAIN, "a.folded")[1])
        self.assertRegex(done.stderr, rb"^wrote standard output \(folded")

    def test_only_one_device(self):
        both = self.export(TWO_DEVICES, "both.speedscope.json")[0]["profiles"]
        one = self.export(TWO_DEVICES, "one.speedscope.json", "--device", "1")[0]["profiles"]
        self.assertEqual(one, [part for part in both if part["device"] == 1])

    def test_nothing_is_replaced_unless_asked(self):
        place = self.folder / "a.folded"
        place.write_text("precious")
        self.refuse(2, "is there already; --force replaces it", TRAIN, "-o", place)
        self.assertEqual(place.read_text(), "precious")
        self.assertEqual(run("export", TRAIN, "-o", place, "--force").returncode, 0)
        self.assertNotEqual(place.read_text(), "precious")

    def test_a_failed_write_leaves_nothing(self):
        for ending in (".folded", ".speedscope.json", ".pickle", ".csv"):
            full = self.folder / ("full" + ending)
            full.symlink_to("/dev/full")
            done = run("export", LEAK, "-o", full)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"No space left on device", done.stderr)
        # No file may be larger than 4096 bytes: as a disk that fills, for those that want a regular one.
        def is_small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        for ending in (".folded", ".speedscope.json", ".pickle", ".plim", ".sqlite"):
            done = subprocess.run([PLIMSOLL, "export", LEAK, "-o", self.folder / ("cut" + ending), "--what",
                                   "difference" if ending == ".folded" else "live"], capture_output=True,
                                  preexec_fn=is_small, check=False)
            if ending in (".folded",) and done.returncode == 0:
                (self.folder / ("cut" + ending)).unlink() # it is short enough
                continue
            self.assertEqual(done.returncode, 3, (ending, done.stderr))
            self.assertRegex(done.stderr.decode(), r"^plimsoll export: .*cannot write|File too large")
        self.refuse(3, "cannot create", TRAIN, "-o", self.folder / "none" / "a.folded")
        self.assertEqual(len(os.listdir(self.folder)), 4)

    # --- wrong usage

    def test_wrong_usage_is_one_clear_line(self):
        place = self.folder / "a.folded"
        for message, arguments in (
                (r"which format\?.*\.speedscope\.json.*--to names one", (TRAIN, "-o", "a.xyz")),
                (r"which format\?", (TRAIN, "-o", "-")),
                (r"where to\?", (TRAIN,)),
                (r"which file\?", ("-o", place)),
                ("one file", (TRAIN, LEAK, "-o", place)),
                ("there is no step 9: 5 were found", (LEAK, "-o", place, "--at", "step:9")),
                ("takes a moment", (LEAK, "-o", place, "--at", "noon")),
                ("there is no device 5", (LEAK, "-o", place, "--device", "5")),
                ("folded holds one moment, not 2", (LEAK, "-o", place, "--at", "peak", "--at", "end")),
                ("a span is for growth", (LEAK, "-o", place, "--from", "start")),
                ("churn has a span", (LEAK, "-o", place, "--what", "churn", "--at", "end")),
                ("holds the whole history", (LEAK, "-o", "a.plim", "--at", "end")),
                ("one figure for each stack", (LEAK, "-o", "a.speedscope.json", "--what", "difference")),
                ('there is no table "x", but devices, steps', (LEAK, "-o", "a.csv", "--table", "x")),
                ("--table is for csv", (LEAK, "-o", place, "--table", "events")),
                ("--what takes live", (LEAK, "-o", place, "--what", "all")),
                ("--to takes one of speedscope", (LEAK, "-o", place, "--to", "svg")),
                ("files alone, not to standard output", (LEAK, "-o", "-", "--to", "plim")),
                ("files alone, not to standard output", (LEAK, "-o", "-", "--to", "sqlite"))):
            with self.subTest(arguments):
                self.refuse(2, message, *arguments)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
