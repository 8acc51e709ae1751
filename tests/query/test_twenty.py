#!/usr/bin/env python3
"""test_twenty.py PLIMSOLL - the twenty questions of docs/commands/query.md, each run against the recording
that its first line names and compared with what this file works out of the pickle by itself.

What only Plimsoll says (steps, categories, findings) is compared with another command's document, or
its sums with ours.
"""

import collections
import csv
import functools
import gzip
import io
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
PAGE = pathlib.Path("docs/commands/query.md")
DATA = pathlib.Path("tests/data")
OWN_CODE = "/home/user/gpt/"


def find(name):
    folders = [DATA / "recordings", DATA / "rehearsals", pathlib.Path(SCRATCH.name)]
    return next(folder / name for folder in folders if (folder / name).exists())


@functools.lru_cache(maxsize=None)
def load(name):
    data = find(name).read_bytes()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    elif name.endswith(".zst"):
        data = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
    return pickle.loads(data)


def ask(name, sql):
    """The rows as dictionaries: numbers as numbers, what is not known as None."""
    text = subprocess.run([PLIMSOLL, "query", find(name), sql, "--json"], capture_output=True,
                          check=True, timeout=300).stdout
    document = json.loads(text)
    assert document["complete"] and document["row_count"] == len(document["rows"])
    return [dict(zip(document["columns"], row)) for row in document["rows"]]


def other(command, name):
    text = subprocess.run([PLIMSOLL, command, find(name), "--json"], capture_output=True, check=True,
                          timeout=300).stdout
    return json.loads(text)


# --- the model ---

Life = collections.namedtuple("Life", "born freed bytes frames")


def trace(name):
    return load(name)["device_traces"][0]


def lives(name):
    """Allocations in the order of their birth; None: not recorded."""
    found, live = [], {}
    for i, event in enumerate(trace(name)):
        if event["action"] == "alloc":
            live[event["addr"]] = len(found)
            found.append(Life(i, None, event["size"], event["frames"]))
        elif event["action"] == "free_requested":
            if event["addr"] in live:
                row = live.pop(event["addr"])
                found[row] = found[row]._replace(freed=i)
            else:
                found.append(Life(None, i, event["size"], event["frames"]))
    touched = {event["addr"] for event in trace(name)
               if event["action"] in ("alloc", "free_requested", "free_completed")}
    for block in blocks(name):
        if block["state"] == "active_allocated" and block["address"] not in touched:
            found.append(Life(None, None, block["requested_size"], block["frames"]))
    return found


def segments(name):
    return sorted((s for s in load(name)["segments"] if s["device"] == 0), key=lambda s: s["address"])


def blocks(name):
    return [block for segment in segments(name) for block in segment["blocks"]]


def live_at(name, event):
    """Of a recording that begins with the program: after an event."""
    return [life for life in lives(name)
            if life.born is not None and life.born <= event and (life.freed is None or life.freed > event)]


def requested_after(name):
    """Requested bytes after each event."""
    bytes_now, found, sizes = 0, [], {}
    for event in trace(name):
        if event["action"] == "alloc":
            sizes[event["addr"]] = event["size"]
            bytes_now += event["size"]
        elif event["action"] == "free_requested":
            bytes_now -= sizes.pop(event["addr"])
        found.append(bytes_now)
    return found


def peak_event(name):
    course = requested_after(name)
    return course.index(max(course))


def last_event(name):
    return len(trace(name)) - 1


def label(frames):
    """The innermost frame of the program's own code; None without a stack."""
    for frame in frames:
        if frame["filename"].startswith(OWN_CODE):
            return frame
    assert not frames, frames
    return None


def place(frames):
    frame = label(frames)
    return (frame["filename"], frame["line"]) if frame else (None, None)


def sum_by(items, key):
    """{key: (count, bytes)}"""
    sums = collections.defaultdict(lambda: [0, 0])
    for item in items:
        sums[key(item)][0] += 1
        sums[key(item)][1] += item.bytes
    return sums


# --- the questions ---

QUESTION = re.compile(r"### (\d+)\. .*?```sql\n-- (\S+)\n(.*?)```", re.S)
SCRATCH = tempfile.TemporaryDirectory(prefix="plimsoll-")


class Twenty(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.asked = {int(rank): (name, sql) for rank, name, sql in QUESTION.findall(PAGE.read_text())}
        snapshot = pickle.loads((DATA / "recordings/train_gpt.pickle").read_bytes())
        for i, event in enumerate(snapshot["device_traces"][0]):
            if i % 7 == 0:
                event["user_metadata"] = f"part {i % 3}, \"quoted\""
        (pathlib.Path(SCRATCH.name) / "annotated.pickle").write_bytes(pickle.dumps(snapshot))

    @classmethod
    def tearDownClass(cls):
        SCRATCH.cleanup()

    def rows(self, rank):
        name, sql = self.asked[rank]
        return name, ask(name, sql)

    def same(self, rows, expected):
        self.assertEqual([tuple(row.values()) for row in rows], expected)
        self.assertTrue(expected)

    def test_there_are_twenty(self):
        self.assertEqual(len(self.asked), 20)
        self.assertEqual(list(self.asked), sorted(self.asked))
        untested = [rank for rank in self.asked if not hasattr(self, f"test_{rank:02}")]
        self.assertEqual(untested, [])

    def test_02(self):
        name, rows = self.rows(2)
        sums = collections.defaultdict(lambda: [0, 0])
        for event in trace(name)[1000:2000]:
            sums[event["action"]][0] += 1
            sums[event["action"]][1] += event["size"]
        self.same(rows, [(action, *sums[action]) for action in sorted(sums)])

    def test_03(self):
        name, rows = self.rows(3)
        self.same(rows, [(len(trace(name)), len(segments(name)), len(blocks(name)))])

    def test_05(self):
        name, rows = self.rows(5)
        self.same(rows, [("pickle", "gzip", gzip.decompress(find(name).read_bytes())[1])])

    def test_06(self):
        name, rows = self.rows(6)
        early = sum_by(live_at(name, 1499), lambda life: place(life.frames))
        late = sum_by(live_at(name, last_event(name)), lambda life: place(life.frames))
        grown = [(*key, late[key][1] - early[key][1]) for key in late]
        self.same(rows, sorted([row for row in grown if row[2] > 0], key=lambda row: (-row[2], row[1])))

    def test_07(self):
        name, rows = self.rows(7)
        self.assertEqual(trace(name)[-1]["action"], "oom")
        then = live_at(name, last_event(name))
        self.assertEqual(sum(row["allocations"] for row in rows), len(then))
        self.assertEqual(sum(row["requested_bytes"] for row in rows), sum(life.bytes for life in then))
        composition = other("diagnose", name)["devices"][0]["composition"]["failures"][0]
        self.assertEqual({row["category"]: (row["allocations"], row["requested_bytes"]) for row in rows},
                         {one["category"]: (one["count"], one["bytes"]) for one in composition["categories"]})

    def test_08(self):
        name, rows = self.rows(8)
        expected = []
        for i, segment in enumerate(segments(name)):
            held = [b["size"] for b in segment["blocks"] if b["state"] == "active_allocated"]
            free = sum(b["size"] for b in segment["blocks"] if b["state"] == "inactive")
            if held and free:
                expected.append((i, free, len(held), sum(held)))
        self.same(rows, sorted(expected, key=lambda row: (-row[1], row[0])))

    def test_09(self):
        name, rows = self.rows(9)
        course = requested_after(name)
        self.assertEqual(len(rows), 4)  # the program's steps
        for row in rows:
            first, last = row["first_event"], row["last_event"]
            within = course[first:last + 1]
            self.assertEqual(row["start_bytes"], course[first - 1])
            self.assertEqual(row["peak_bytes"], max(within))
            self.assertEqual(row["peak_event"], first + within.index(max(within)))
            self.assertEqual(row["end_bytes"], course[last])

    def test_11(self):
        name, rows = self.rows(11)
        before = [life for life in lives(name) if life.born is None]
        self.same(rows, [(0, len(trace(name)), 1, len(before))])

    def test_12(self):
        name, rows = self.rows(12)
        before = [life for life in lives(name) if life.born is None]
        self.same(rows, [(len(before), sum(life.bytes for life in before),
                          sum(life.freed is None for life in before))])

    def test_13(self):
        name, rows = self.rows(13)
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for segment in segments(name):
            pool = "%d:%d" % tuple(segment["segment_pool_id"])
            sums[pool][0] += 1
            sums[pool][1] += segment["total_size"]
            sums[pool][2] += sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
        self.assertEqual(len(sums), 2)
        self.same(rows, [(pool, *sums[pool]) for pool in sorted(sums)])

    def test_14(self):
        name, rows = self.rows(14)
        sums = sum_by(lives(name), lambda life: int(not life.frames))
        self.same(rows, [(key, *sums[key]) for key in sorted(sums)])

    def test_16(self):
        name, rows = self.rows(16)
        found = [life for life in lives(name) if any(f["name"] == "attend" for f in life.frames)]
        self.same(rows, [(len(found), sum(life.bytes for life in found))])

    def test_17(self):
        name, rows = self.rows(17)
        sums = sum_by(live_at(name, peak_event(name)),
                      lambda life: (label(life.frames) or {"name": None})["name"])
        self.same(rows, sorted([(key, *sums[key]) for key in sums], key=lambda row: -row[2]))

    def test_18(self):
        name, rows = self.rows(18)
        steps = ask(name, "SELECT first_event, last_event FROM steps")
        kept = collections.defaultdict(lambda: [set(), 0])
        for life in live_at(name, last_event(name)):
            at = [i for i, s in enumerate(steps) if s["first_event"] <= life.born <= s["last_event"]]
            kept[place(life.frames)][0].update(at)
            kept[place(life.frames)][1] += life.bytes
        expected = [(*key, len(born), size) for key, (born, size) in kept.items() if len(born) >= 4]
        self.same(rows, sorted(expected, key=lambda row: -row[3]))

    def test_21(self):
        name, rows = self.rows(21)
        findings = other("diagnose", name)["devices"][0]["findings"]
        self.same(rows, [(f["id"], f["certainty"], f["bytes"]) for f in findings])

    def test_24(self):
        name, rows = self.rows(24)
        most = max(requested_after(name))
        self.same(rows, [(most, f"{most / 2**20:.0f} MiB", round(most / 1e9, 3), round(most / 2**30, 3))])

    def test_25(self):
        name, rows = self.rows(25)
        sums = collections.defaultdict(lambda: [0, 0])
        for event in trace(name):
            if event["action"] == "alloc" and event.get("user_metadata"):
                sums[event["user_metadata"]][0] += 1
                sums[event["user_metadata"]][1] += event["size"]
        self.same(rows, [(key, *sums[key]) for key in sorted(sums)])

    def test_26(self):
        name, rows = self.rows(26)
        sums = collections.defaultdict(lambda: [0, 0])
        for event in trace(name):
            if event["action"] == "segment_alloc":
                sums[place(event["frames"])][0] += 1
                sums[place(event["frames"])][1] += event["size"]
        self.same(rows, sorted([(*key, *sums[key]) for key in sums],
                               key=lambda row: (-row[3], row[1] or 0)))

    def test_30(self):
        name, rows = self.rows(30)
        large = [life for life in lives(name) if life.bytes >= 8388608][:20]
        self.same(rows, [(life.born, life.freed, life.bytes,
                          None if life.freed is None else life.freed - life.born) for life in large])

    def test_31(self):
        name, rows = self.rows(31)
        self.assertEqual(sum(row["allocations"] for row in rows), len(lives(name)))
        self.assertEqual(sum(row["requested_bytes"] for row in rows),
                         sum(life.bytes for life in lives(name)))
        names = {row["category"] for row in ask(name, "SELECT category FROM categories")}
        self.assertTrue({row["category"] for row in rows} <= names)

    def test_csv_says_the_same_as_json(self):
        for rank, (name, sql) in self.asked.items():
            text = subprocess.run([PLIMSOLL, "query", find(name), sql, "--csv"], capture_output=True,
                                  check=True, timeout=300).stdout.decode()
            lines = list(csv.DictReader(io.StringIO(text)))
            rows = ask(name, sql)
            self.assertEqual(len(lines), len(rows))
            for line, row in zip(lines, rows):
                for column, value in row.items():
                    self.assertEqual(line[column], "" if value is None else str(value), rank)


if __name__ == "__main__":
    unittest.main()
