#!/usr/bin/env python3
"""test_diff.py PLIMSOLL - the command `diff`: pages, moments, ranks, bounds, documents.

Pages of recordings are compared with tests/golden/diff-*.txt; PLIM_BLESS=1 rewrites them.
"""

import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
GOLDEN = pathlib.Path("tests/golden")
REHEARSALS = pathlib.Path("tests/data/rehearsals")
RECORDINGS = pathlib.Path("tests/data/recordings")
LEAK = str(REHEARSALS / "bug-loss-kept.pickle.zst")
HEALTHY = str(REHEARSALS / "fixed-loss-kept.pickle.zst")
TWO = str(RECORDINGS / "two_devices.pickle.gz")
ONE = str(RECORDINGS / "leak.pickle.gz")
WRAPPED = str(RECORDINGS / "wrapped_history.pickle")
PAGES = {
    "regression": (HEALTHY, LEAK),
    "cure": (LEAK, HEALTHY),
    "same": (LEAK, LEAK),
    "moments": ("--at=step:2..step:9", LEAK),
    "moment-of-both": ("--at=step:7:end", HEALTHY, LEAK),
    "other-settings": (str(REHEARSALS / "gpt2-124m.pickle.zst"), str(REHEARSALS / "gpt2-124m-expandable.pickle.zst")),
    "two-devices": ("--top=3", TWO, ONE),
    "one-device": ("--device=1", TWO, ONE),
    "no-device": ("--device=7", TWO, ONE),
    "wrapped": ("--top=2", WRAPPED, ONE),
    "filtered": ("--category=activations", "--stack=evaluate", str(REHEARSALS / "fixed-evaluate-with-grad.pickle.zst"),
                 str(REHEARSALS / "bug-evaluate-with-grad.pickle.zst")),
    "full-paths": ("--full-paths", "--top=1", HEALTHY, LEAK),
}


def run(*arguments, stdin=None):
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return subprocess.run([PLIMSOLL, "diff", *arguments], env={**environment, "LC_ALL": "C.UTF-8"},
                          stdin=stdin or subprocess.DEVNULL, capture_output=True, check=False, timeout=120,
                          text=True)


def document(*arguments):
    return json.loads(run("--json", *arguments).stdout)


def snapshot(groups, device=0, stacks=True, folder="/src"):
    """A snapshot in which each (name, line, bytes) is allocated and stays."""
    events, blocks, address = [], [], 0x7000000000
    for name, line, size in groups:
        frames = [{"filename": f"{folder}/train.py", "name": name, "line": line}] if stacks else []
        rounded = (size + 511) // 512 * 512
        events.append({"action": "alloc", "addr": address, "size": size, "stream": 0, "time_us": 1000 + len(events),
                       "frames": frames})
        blocks.append({"address": address, "size": rounded, "requested_size": size, "state": "active_allocated",
                       "frames": frames})
        address += rounded
    total = address - 0x7000000000
    first = {"action": "segment_alloc", "addr": 0x7000000000, "size": total, "stream": 0, "time_us": 999, "frames": []}
    segment = {"device": device, "address": 0x7000000000, "total_size": total, "allocated_size": total,
               "active_size": total, "requested_size": total, "stream": 0, "segment_type": "large",
               "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
    traces = [[] for _ in range(device)] + [[first, *events] if groups else []]
    return {"segments": [segment] if groups else [], "device_traces": traces}


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, groups, **options):
        path = pathlib.Path(self.folder.name, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(snapshot(groups, **options)))
        return str(path)

    def copy(self, source, name):
        path = pathlib.Path(self.folder.name, name)
        path.parent.mkdir(exist_ok=True)
        return shutil.copy(source, path)

    def place(self, name):
        return str(pathlib.Path(self.folder.name, name))


class Pages(Files):
    maxDiff = None

    def check(self, name, text):
        path = GOLDEN / f"diff-{name}.txt"
        if os.environ.get("PLIM_BLESS"):
            path.write_text(text)
        self.assertEqual(path.read_text(), text)

    def test_pages_are_as_approved(self):
        for name, words in PAGES.items():
            with self.subTest(name):
                done = run(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.check(name, done.stdout)

    def test_the_cause_of_every_bug_leads_its_page(self):
        for bug in sorted(REHEARSALS.glob("bug-*.zst")):
            fixed = REHEARSALS / bug.name.replace("bug-", "fixed-")
            if not fixed.exists():
                continue
            with self.subTest(bug.name):
                page = run(str(fixed), str(bug)).stdout
                answer = page.split("\n\n")[1].replace("\n", " ")
                self.assertRegex(answer, "grew by|more stays|more is held")
                self.assertIn(".py:", answer)
                self.assertNotIn("{}", page)
                device = document(str(fixed), str(bug))["pairs"][0]["devices"][0]
                self.assertFalse(device["same"])

    def test_one_recording_twice_is_no_difference(self):
        for path in sorted(REHEARSALS.glob("*.zst"))[::6]:
            with self.subTest(path.name):
                done = run(str(path), str(path))
                self.assertIn("No difference: ", done.stdout)
                self.assertTrue(document(str(path), str(path))["same"])

    def test_pages_fit_their_width(self):
        for width in (60, 80, 140):
            lines = run(f"--width={width}", "--top=50", TWO, ONE).stdout.splitlines()
            self.assertEqual([line for line in lines if len(line) > width], [])

    def test_no_stacks_are_said_and_no_lines_are_blamed(self):
        before = self.write("a.pickle", [("f", 1, 1 << 20)])
        after = self.write("b.pickle", [("f", 1, 3 << 20)], stacks=False)
        page = run(before, after).stdout
        self.assertIn("Peak grew by 2.00 MiB", page)
        self.assertIn("One side has no stacks", page)
        self.assertNotIn("train.py", page)
        self.assertEqual(run("--fail-on=new>1B", before, after).returncode, 3)

    def test_a_device_of_one_side_is_named(self):
        before = self.write("a.pickle", [("f", 1, 1 << 20)])
        after = self.write("b.pickle", [("f", 1, 1 << 20)], device=1)
        page = run("--device=1", before, after).stdout
        self.assertIn("GPU 1 has memory after alone: 1.00 MiB at its peak.", page)
        self.assertIn("GPU 0 has memory before alone", run("--device=0", before, after).stdout)
        self.assertIn("Neither recording has memory of device 2.", run("--device=2", before, after).stdout)
        table = run(before, after).stdout
        self.assertIn("only before", table)
        self.assertIn("only after", table)

    def test_a_sum_that_is_made_of_other_code_is_a_difference(self):
        before = self.write("a.pickle", [("f", 1, 1 << 20), ("g", 2, 2 << 20)])
        after = self.write("b.pickle", [("f", 1, 2 << 20), ("g", 2, 1 << 20)])
        page = run(before, after).stdout
        self.assertIn("The sum is as before, but not what it is made of: 1.00 MiB more at train.py:1 in f.", page)
        self.assertFalse(document(before, after)["same"])

    def test_what_is_not_recorded_is_not_reserved_as_nothing(self):
        plain = snapshot([("f", 1, 1 << 20)])
        plain["segments"], plain["device_traces"][0][:1] = [], []
        path = pathlib.Path(self.place("a.pickle"))
        path.write_bytes(pickle.dumps(plain))
        page = run(str(path), str(path)).stdout
        self.assertIn("1.00 MiB", page)
        self.assertNotIn("reserved", page)
        self.assertNotIn("reserved", document(str(path), str(path))["pairs"][0]["devices"][0]["figures"])
        self.assertEqual(run("--fail-on=reserved>+1GiB", str(path), str(path)).returncode, 3)
        self.assertIn("one side has no segments", run(str(path), self.write("b.pickle", [("f", 1, 1 << 20)])).stdout)

    def test_one_line_in_two_folders_is_one_row(self):
        before = self.write("a.pickle", [("f", 1, 1 << 20), ("g", 2, 2 << 20)], folder="/home/ada/main")
        after = self.write("b.pickle", [("f", 1, 3 << 20), ("g", 2, 2 << 20)], folder="/home/bob/branch")
        page = run(before, after).stdout
        self.assertIn("Peak grew by 2.00 MiB (+66.7%): all of it", page)
        self.assertIn(" at train.py:1 in f", page)
        self.assertNotIn("gone", page)

    def test_hostile_names_are_cleaned_and_bounded(self):
        name = "\x1b[31mstep\x07\"\n" + "x" * (1 << 20)
        before = self.write("a.pickle", [(name, 1, 1 << 20)])
        after = self.write("b.pickle", [(name, 1, 2 << 20), ("\x00y", 2, 1 << 20)])
        done = run("--color=never", before, after)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\x07", done.stdout)
        self.assertLess(len(done.stdout), 3 << 20)
        lines = document(before, after)["pairs"][0]["devices"][0]["moments"]["peak"]["lines"]
        self.assertEqual(sum(line["change_bytes"] for line in lines), 2 << 20)

    def test_nothing_on_either_side(self):
        nothing = self.write("a.pickle", [])
        self.assertIn("Nothing to compare", run(nothing, nothing).stdout)
        something = self.write("b.pickle", [("f", 1, 1 << 20)])
        self.assertIn("1.00 MiB", run(nothing, something).stdout)


class Ranks(Files):
    def setUp(self):
        super().setUp()
        for rank in range(3):
            self.copy(HEALTHY, f"before/snapshot_rank{rank}.pickle.zst")
        self.copy(HEALTHY, "after/new_r0.pickle.zst")
        self.copy(LEAK, "after/new_r1.pickle.zst")
        self.copy(LEAK, "after/new_r5.pickle.zst")
        pathlib.Path(self.place("after/train.log")).write_text("no recording")

    def test_the_worst_rank_leads(self):
        done = run(self.place("before"), self.place("after"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("The peak grew on 1 of 2 ranks, most on rank 1: by 44.0 MiB."))
        self.assertIn("snapshot_rank2.pickle.zst has no counterpart after", done.stdout.replace("\n  ", " "))
        self.assertIn("new_r5.pickle.zst has no counterpart before", done.stdout.replace("\n  ", " "))
        self.assertIn("\nRank 1\n", done.stdout)
        self.assertIn("loss_kept.py:24 in main", done.stdout)

    def test_the_document_has_all_pairs(self):
        found = document(self.place("before"), self.place("after"))
        self.assertEqual([pair["rank"] for pair in found["pairs"]], [0, 1, 2, 5])
        self.assertEqual(found["worst"], {"pair": 1, "device": 0})
        self.assertIsNone(found["pairs"][2]["after"])
        self.assertIsNone(found["pairs"][3]["before"])
        self.assertTrue(found["pairs"][0]["devices"][0]["same"])

    def test_files_of_one_name_belong_together(self):
        self.copy(LEAK, "c/rank_7.pickle.zst")
        self.copy(HEALTHY, "d/rank_7.pickle.zst")
        self.copy(LEAK, "c/plain.pickle.zst")
        self.copy(LEAK, "d/plain.pickle.zst")
        found = document(self.place("c"), self.place("d"))
        self.assertEqual([pair["rank"] for pair in found["pairs"]], [7, None])
        self.assertIn("Nothing grew on any of 2 ranks; 1 without a difference.",
                      run(self.place("c"), self.place("d")).stdout)
        self.assertIn("No difference on any of 2 ranks.", run(self.place("c"), self.place("c")).stdout)

    def test_a_broken_file_is_named_and_the_others_are_compared(self):
        pathlib.Path(self.place("after/new_r2.pickle")).write_bytes(b"\x80\x04garbage")
        done = run(self.place("before"), self.place("after"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("new_r2.pickle", done.stderr)
        self.assertIn("on 1 of 2 ranks", done.stdout)

    def test_any_rank_exceeds_a_bound(self):
        os.remove(self.place("before/snapshot_rank2.pickle.zst"))
        os.remove(self.place("after/new_r5.pickle.zst"))
        done = run("--fail-on=peak>+5%", self.place("before"), self.place("after"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("new_r1.pickle.zst, GPU 0: peak: 44.0 MiB more (33.6%) than before exceeds 5.0%", done.stderr)

    def test_a_rank_without_counterpart_has_not_passed(self):
        os.remove(self.place("after/new_r1.pickle.zst"))
        done = run("--fail-on=peak>+5%", self.place("before"), self.place("after"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("no counterpart and cannot be checked", done.stderr)

    def test_a_folder_and_a_file_are_wrong_usage(self):
        for words in ((self.place("before"), LEAK), (LEAK, self.place("after")),
                      ("--at=start..end", self.place("after"))):
            done = run(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("give two folders", done.stderr)

    def test_a_folder_without_recordings_is_said(self):
        os.mkdir(self.place("empty"))
        done = run(self.place("before"), self.place("empty"))
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("has no recordings", done.stderr)


class Limits(Files):
    def exits(self, what, expected, said="", files=(HEALTHY, LEAK)):
        done = run(f"--fail-on={what}", *files)
        with self.subTest(what):
            self.assertEqual(done.returncode, expected, done.stderr)
            self.assertIn(said, done.stderr)

    def test_each_kind(self):
        self.exits("peak>+5%", 1, "peak: 44.0 MiB more (33.6%) than before exceeds 5.0%")
        self.exits("peak>+43MiB", 1, "exceeds 43.0 MiB")
        self.exits("peak>+44MiB", 0)
        self.exits("peak>+34%,end>+0%,reserved>+1GiB,growth>+4MiB/step", 0)
        self.exits("reserved>+10%", 1, "reserved at peak: 48.0 MiB more (33.3%)")
        self.exits("growth>+1MiB/step", 1, "stays of each step: 4.00 MiB more than before exceeds 1.00 MiB")
        self.exits("growth>+1MiB", 1)
        self.exits("new>64MiB", 0)
        before = self.write("a.pickle", [("f", 1, 1 << 20)])
        after = self.write("b.pickle", [("f", 1, 1 << 20), ("g", 9, 2 << 20), ("h", 10, 3 << 20)])
        self.exits("new>4MiB", 1, "in new code: 5.00 MiB more than before exceeds 4.00 MiB", (before, after))
        self.exits("end>+100%", 1, "end: 5.00 MiB more (500.0%) than before exceeds 100.0%", (before, after))
        self.exits("at>+4MiB", 1, "chosen moment: 5.00 MiB more", ("--at=end", before, after))

    def test_each_that_is_exceeded_has_a_line(self):
        done = run("--fail-on=peak>+5%,reserved>+5%", "--fail-on=growth>+1B", HEALTHY, LEAK)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 3))

    def test_a_cure_exceeds_nothing(self):
        self.exits("peak>+0%,end>+0B,reserved>+0%,growth>+0,new>0", 0, files=(LEAK, HEALTHY))
        self.exits("peak>+0%,end>+0B,reserved>+0%,growth>+0,new>0", 0, files=(LEAK, LEAK))

    def test_what_cannot_be_checked_has_not_passed(self):
        self.exits("growth>+1GiB", 3, "stays of each step cannot be checked", (WRAPPED, WRAPPED))
        self.exits("at>+1GiB", 3, "cannot be checked", (LEAK, LEAK))
        self.exits("peak>+1GiB", 3, "nothing could be checked", ("--device=7", LEAK, LEAK))
        self.exits("peak>+1%,at>+1GiB", 1, "cannot be checked")

    def test_what_is_no_bound_is_wrong_usage(self):
        for what in ("", ",", "peak", "peak>", "peak>5%", "peak>20GiB", "peak<+3GiB", "peak>=+3GiB", "peak>+20",
                     "leak", "growth>+5%", "growth>+1MiB/s", "peak>+1MiB/step", "new>+64MiB", "new>5%",
                     "peak>+-1%", "peak>++1%", "peak>+nan%", "peak>+20000%", "x" * 500,
                     ",".join(["peak>+1%"] * 40)):
            with self.subTest(what):
                done = run(f"--fail-on={what}", HEALTHY, LEAK)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("--fail-on", done.stderr)


class Usage(Files):
    def test_wrong_usage_is_one_line(self):
        for words, said in (((), "which two?"), ((LEAK, LEAK, LEAK), "which two?"), ((LEAK,), "which two moments"),
                            (("--at=peak", LEAK), "which two moments"), (("-", "-"), "standard input can be one"),
                            (("--at=step", LEAK, LEAK), "--at takes"), (("--at=..end", LEAK), "--at takes"),
                            (("--at=start..", LEAK), "--at takes"), (("--at=a..b..c", LEAK), "--at takes"),
                            (("--at=" + "9" * 900, LEAK, LEAK), "--at takes"),
                            (("--category=weights", LEAK, LEAK), "--category takes"),
                            (("--top=0", LEAK, LEAK), "--top")):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)

    def test_a_moment_that_is_not_there_is_said(self):
        for at in ("step:2..step:900", "oom:1..end", "event:99999999..end"):
            done = run(f"--at={at}", LEAK)
            self.assertEqual((done.returncode, done.stdout), (3, ""), at)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_files_that_cannot_be_read_are_named(self):
        done = run(LEAK, self.place("missing.pickle"))
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("missing.pickle", done.stderr)
        failed = run("--fail-on=peak>+5%", self.place("missing.pickle"), LEAK)
        self.assertEqual((failed.returncode, len(failed.stderr.splitlines())), (3, 1))
        failed = run("--json", LEAK, self.place("missing.pickle"))
        pair = json.loads(failed.stdout)["pairs"][0]
        self.assertEqual((failed.returncode, pair["failed_file"]), (3, self.place("missing.pickle")))
        self.assertEqual(pair["error"]["status"], "PLIM_IO")

    def test_standard_input_is_a_file(self):
        with open(LEAK, "rb") as stdin:
            done = run(HEALTHY, "-", stdin=stdin)
        self.assertEqual(done.returncode, 0)
        self.assertIn("after  standard input", done.stdout)


class Documents(Files):
    def test_sums_agree(self):
        for words in ((HEALTHY, LEAK), (TWO, ONE), (WRAPPED, ONE), ("--at=start..end", LEAK)):
            for device in document(*words)["pairs"][0]["devices"]:
                for name, moment in device["moments"].items():
                    if not moment["known"]:
                        self.assertTrue(moment["because"])
                        continue
                    with self.subTest((words, device["device"], name)):
                        for side in ("before", "after"):
                            total = sum(group[side]["bytes"] for group in moment["groups"] if group[side])
                            self.assertEqual(sum(line[f"{side}_bytes"] for line in moment["lines"]), total)
                            self.assertEqual(sum(c[f"{side}_bytes"] for c in moment["categories"]), total)
                            if name != "step":
                                self.assertEqual(total, moment[side]["requested_bytes"])
                        changes = sum(line["change_bytes"] for line in moment["lines"])
                        self.assertEqual(moment["change_bytes"], changes)

    def test_figures_are_those_of_inspect(self):
        device = document(HEALTHY, LEAK)["pairs"][0]["devices"][0]
        for side, path in (("before", HEALTHY), ("after", LEAK)):
            done = subprocess.run([PLIMSOLL, "inspect", "--json", path], capture_output=True, check=True)
            facts = json.loads(done.stdout)["files"][0]["devices"][0]
            self.assertEqual(device["figures"]["peak"][f"{side}_bytes"], facts["peak"]["requested_bytes"])
            self.assertEqual(device["figures"]["reserved"][f"{side}_bytes"], facts["peak"]["reserved_bytes"])
            self.assertEqual(device["figures"]["end"][f"{side}_bytes"], facts["end"]["requested_bytes"])

    def test_the_page_is_in_the_document(self):
        says = document(HEALTHY, LEAK)["says"]
        answer = next(item for item in says if item["id"] == "answer")
        self.assertEqual(answer["figures"]["grown_bytes"], 46137344)

    def test_filters_reach_the_document(self):
        moment = document("--category=activations", HEALTHY, LEAK)["pairs"][0]["devices"][0]["moments"]["peak"]
        self.assertEqual({group["category"] for group in moment["groups"]}, {"activations"})
        moment = document("--stack=nowhere", HEALTHY, LEAK)["pairs"][0]["devices"][0]["moments"]["peak"]
        self.assertEqual((moment["groups"], moment["lines"]), ([], []))


if __name__ == "__main__":
    unittest.main()
