#!/usr/bin/env python3
"""test_replay.py PLIMSOLL - no sentence of replay and tune says more than its figures.

Every sentence of a page is known here by its form, and what it claims is worked out again from
the document of the same run. A sentence of no known form fails, too: it has no claim that is
checked. Recordings of this repository are read, and other people's where they are present.
"""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv.pop(1)
OWN = sorted(pathlib.Path("tests/data/recordings").glob("*.pickle*"))
REHEARSALS = sorted(pathlib.Path("tests/data/rehearsals").glob("*.pickle.zst"))
OTHERS = sorted(pathlib.Path("../shared/data/snapshots").glob("*.pickle"))
CONFS = ("expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4")
CLEAN = {key: value for key, value in os.environ.items()
         if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG")}
STEP = 2 << 20
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
B = r"([\d.]+ (?:[KMGT]i)?B)"  # a size
N = r"([\d,]+)"
P = r"(<?[\d.]+%)"
GPU = r"(?: on GPU (\d+))?"
SENTENCE = r"(?:[^.]|\.(?=\d))+\."
VERDICT = r"(\w+), (certain|likely|possible)\."
EVENT = rf"event {N}(?:, [^\n]*?)?"


def run(*words):
    return subprocess.run([PLIMSOLL, *map(str, words)], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.PIPE, env={**CLEAN, "LC_ALL": "C.UTF-8"}, timeout=300)


def is_bytes(words, figure):
    """Whether a size of three digits is that of the figure."""
    number, unit = words.split()
    digits = len(number.partition(".")[2])
    return abs(float(number) * UNITS[unit] - figure) <= 0.501 * UNITS[unit] / 10 ** digits


def is_percent(words, share):
    number = words.strip("<%")
    if words.startswith("<"):
        return 0 < share * 100 < float(number) + 1e-9
    return abs(float(number) - share * 100) <= 0.051 or (number in ("0.1", "99.9"))


def count(words):
    return int(words.replace(",", ""))


# --- what a document says ---

class Said:
    """A document and its page."""

    def __init__(self, test, command, path, words):
        self.test, self.command = test, command
        done = run(command, path, "--json", *words)
        self.status = done.returncode
        self.error = done.stderr.decode()
        if self.status == 0:
            self.it = json.loads(done.stdout)
            more = ["--top=9999"] if command == "tune" else []
            self.page = run(command, path, "--width=400", *more, *words).stdout.decode()

    def __getattr__(self, name):
        return self.it[name]

    @property
    def best(self):
        return self.results[self.best_index]

    @property
    def reference(self):
        return self.results[self.reference_index]

    def bytes(self, words, figure):
        self.test.assertTrue(is_bytes(words, figure), f"{words} is not {figure}")

    def at_capacity(self, words):
        self.bytes(words, self.capacity_bytes)

    def fails(self, row):
        """The run of a row fails, whatever that says of the device."""
        return row["failed_event"] is not None or row["failure"] is not None or \
            row["peak_reserved_bytes"] is None


def cost(row):
    needs = math.ceil(row["min_capacity_bytes"] / STEP)
    lives = row["survives"] or (row["survives"] is None and row["failed_event"] is None
                                and row["peak_reserved_bytes"] is not None)
    return needs + (math.ceil(row["peak_reserved_bytes"] / STEP) if lives else needs)


def plainness(row):
    """How much a row asks of a user."""
    confs = [pair for pair in re.split(r",(?![^\[]*\])", row["conf"]) if pair]
    program = {None: 0, "after_steps": 100, "at_event": 200}[row["empty_cache"]]
    if row["is_recorded"] and not program:
        return 0
    names = {pair.partition(":")[0] for pair in confs}
    return program + (1 if not names else 2 if names == {"expandable_segments"} else 2 + len(names))


# --- claims: a form, and what follows from a sentence of it ---

def claim_bound(s, *sizes):
    s.test.assertTrue(s.is_capacity_bound)
    for size in sizes:
        s.at_capacity(size)


def claim_capacity(s, least, size, why):
    s.at_capacity(size)
    s.test.assertEqual(bool(least), s.is_capacity_bound)
    source = {"as given": "given", "what was reserved and what was free when memory ran out":
              "oom", "so much was reserved when cached memory was given back for a request":
              "retries"}[why]
    s.test.assertEqual(s.capacity_source, source)
    s.test.assertEqual(s.is_capacity_bound, source == "retries")


def claim_floor(s, size, gpu, event):
    s.bytes(size, s.floor_bytes)
    s.test.assertEqual(s.floor_bytes, max(one["floor_bytes"] for one in s.devices))
    s.test.assertIn(count(event), [one["peak_event"] for one in s.devices
                                   if gpu is None or one["device"] == int(gpu)])
    for row in s.results:
        if row["min_capacity_bytes"] is not None:
            s.test.assertGreaterEqual(row["min_capacity_bytes"], s.floor_bytes, row["conf"])


def claim_recorded_oom(s, gpu, event, *_):
    s.test.assertIn(count(event), [one["oom_event"] for one in s.devices])


def claim_hopeless(s, needs, has, less):
    s.bytes(needs, s.floor_bytes)
    s.at_capacity(has)
    s.bytes(less, s.floor_bytes - s.capacity_bytes)
    s.test.assertTrue(s.is_hopeless)
    s.test.assertFalse(s.is_capacity_bound)
    s.test.assertFalse(any(row["survives"] for row in s.results))


def claim_too_live(s):
    s.test.assertGreater(s.floor_bytes, s.capacity_bytes)
    s.test.assertFalse(s.is_capacity_bound)
    s.test.assertFalse(any(row["survives"] for row in s.results))


def of_pytorch(s):
    return [row for row in s.results if row["policy"] == "torch" and not row["is_too_new"]]


def claim_unsaved(s, needs, more, floor):
    s.test.assertFalse(any(row["survives"] for row in of_pytorch(s)))
    s.test.assertFalse(s.is_capacity_bound)
    s.bytes(needs, s.best["min_capacity_bytes"])
    s.bytes(more, s.best["min_capacity_bytes"] - s.capacity_bytes)
    s.bytes(floor, s.floor_bytes)
    known = [row for row in of_pytorch(s) if not row["is_min_capacity_bound"]]
    s.test.assertLessEqual(cost(s.best), 1.01 * min(cost(row) for row in known))


def claim_unsaved_island(s, needs, has, floor):
    s.test.assertFalse(any(row["survives"] for row in of_pytorch(s)))
    s.at_capacity(has)
    s.bytes(needs, s.best["min_capacity_bytes"])
    s.bytes(floor, s.floor_bytes)
    s.test.assertLessEqual(s.best["min_capacity_bytes"], s.capacity_bytes)


def claim_undecided(s, bound, needs, has, floor):
    claim_bound(s, has)
    s.test.assertFalse(any(row["survives"] for row in of_pytorch(s)))
    s.test.assertEqual(bool(bound), s.best["is_min_capacity_bound"])
    s.bytes(needs, s.best["min_capacity_bytes"])
    s.bytes(floor, s.floor_bytes)


def claim_saved(s, has, event):
    s.at_capacity(has)
    s.test.assertTrue(s.best["survives"])
    s.test.assertTrue(s.is_saved)
    for index in (s.recorded_index, s.baseline_index):
        s.test.assertIs(s.results[index]["survives"], False)
    s.test.assertEqual(s.reference["failed_event"], event and count(event))


def claim_less(s):
    """Need and reserve are less together, by 1 % and more, than under the recorded settings."""
    for index in (s.recorded_index, s.baseline_index):
        if s.results[index]["survives"] is not False and not s.fails(s.results[index]):
            s.test.assertLess(cost(s.best) * 1.01, cost(s.results[index]) + 1)


def claim_survives_as_recorded(s):
    s.test.assertTrue(s.results[s.recorded_index]["survives"])
    claim_less(s)


def claim_survives_anew(s):
    s.test.assertTrue(s.reference["survives"])
    s.test.assertEqual(s.reference_index, s.baseline_index)
    claim_less(s)


def claim_survives_bound(s, has):
    claim_bound(s, has)
    s.test.assertTrue(s.best["survives"])


def claim_kept(s):
    s.test.assertTrue(s.best["is_recorded"])
    for row in of_pytorch(s):
        if not row["is_min_capacity_bound"] and row["survives"] == s.best["survives"]:
            s.test.assertLessEqual(cost(s.best), 1.01 * cost(row) + 1, row["conf"])
        s.test.assertFalse(row["survives"] and s.best["survives"] is False)


def claim_hardly(s, gain, conf=None):
    row = s.results[s.hardly_better_index]
    s.test.assertEqual(conf is None, s.hardly_better_index == s.best_index)
    s.test.assertIn(conf, (None, row["conf"] or "default"))
    s.test.assertTrue(0 < s.gain < 0.0102)
    s.test.assertTrue(is_percent(gain, 1 - cost(row) / cost(s.reference)))
    s.subject = row


def compare(s, bound, before, after, change, more, share, figures):
    s.bytes(before, figures[0])
    s.bytes(after, figures[1])
    s.bytes(change, abs(figures[0] - figures[1]))
    s.test.assertEqual(more == "more", figures[1] > figures[0])
    s.test.assertTrue(is_percent(share, abs(figures[0] - figures[1]) / figures[0]))


def figures_of(s, member):
    return s.reference[member], s.subject[member]


def claim_needs(s, after, bound, before, *change):
    figures = figures_of(s, "min_capacity_bytes")
    s.test.assertEqual(bool(bound), s.reference["is_min_capacity_bound"])
    s.test.assertFalse(s.subject["is_min_capacity_bound"])
    own = [s.results[i] for i in (s.recorded_index, s.baseline_index)]
    if s.subject["survives"] == s.reference["survives"]:
        s.test.assertEqual(cost(s.reference), min(cost(row) for row in own
                                                  if row["survives"] == s.reference["survives"]))
    compare(s, bound, before, after, *change, figures)


def claim_needs_like(s, after):
    s.test.assertEqual(*figures_of(s, "min_capacity_bytes"))
    s.bytes(after, s.subject["min_capacity_bytes"])


def claim_needs_alone(s, after):
    s.bytes(after, s.subject["min_capacity_bytes"])
    s.test.assertTrue(s.reference["is_min_capacity_bound"])


def claim_reserves(s, after, before, *change):
    compare(s, None, before, after, *change, figures_of(s, "peak_reserved_bytes"))


def claim_reserves_like(s, after):
    s.test.assertEqual(*figures_of(s, "peak_reserved_bytes"))
    s.bytes(after, s.subject["peak_reserved_bytes"])


def claim_command(s, conf):
    s.test.assertEqual(conf.strip("'"), s.best["conf"])
    s.test.assertFalse(s.best["is_too_new"])
    s.test.assertEqual(s.best["policy"], "torch")
    s.test.assertFalse(s.best["is_recorded"] and s.best["empty_cache"] is None)


def claim_steps(s):
    s.test.assertEqual(s.best["empty_cache"], "after_steps")


def claim_once(s, event):
    s.test.assertEqual(s.best["empty_cache_event"], count(event))


def claim_release(s, release):
    s.test.assertEqual(s.best["needs_torch"], release)


def claim_served(s):
    s.test.assertGreater(s.best["ooms_survived"], 0)


def claim_runs(s, runs):
    s.test.assertEqual(count(runs), s.runs)


# replay's, of the row that its heading named

def claim_dies(s, gpu, event, verdict, certainty, again):
    row = s.subject
    s.test.assertIs(row["survives"], False)
    claim_failure(row, s.test, event, verdict, certainty)
    s.test.assertEqual(bool(again), row["was_oom"])


def claim_failure(row, test, event, verdict, certainty):
    test.assertEqual(count(event), row["failed_event"])
    figures = row["failed_request"]["figures"]
    test.assertEqual([verdict, certainty],
                     [row["failed_request"][key] for key in ("verdict", "certainty")])
    test.assertGreaterEqual(figures["requested_bytes"], row["failed_bytes"])
    test.assertEqual(figures["reserved_bytes"], row["failed_reserved_bytes"])


def claim_why(s, why):
    """The judge's own words; what they claim is derived in test_verdicts.py."""
    s.test.assertEqual(why, s.subject["failed_request"]["why"])


def claim_may_die(s, capacity, gpu, event, verdict, certainty):
    claim_bound(s, capacity)
    s.test.assertIsNone(s.subject["survives"])
    claim_failure(s.subject, s.test, event, verdict, certainty)


def claim_released(s, size, gpu):
    s.bytes(size, s.subject["start_released_bytes"])
    s.test.assertGreater(s.subject["start_released_bytes"], 0)
    s.test.assertTrue(s.subject["is_recorded"])
    for one in s.devices:  # as much as must, and no more: what is live never goes
        if one["device"] == s.subject["device"]:
            s.test.assertGreater(one["start_reserved_bytes"], s.capacity_bytes)
            s.test.assertLessEqual(
                s.subject["start_released_bytes"] + one["start_live_bytes"],
                one["start_reserved_bytes"])


def claim_served_here(s, requests):
    s.test.assertEqual(count(requests), s.subject["ooms_survived"])


def claim_no_start(s, size, has):
    s.at_capacity(has)
    s.test.assertIsNotNone(s.subject["failure"])
    s.test.assertIs(s.subject["survives"], False)


def claim_gpu(s, gpu, fate, event, *_):
    one = next(one for one in s.subject["by_device"] if one["device"] == int(gpu))
    claim_fate(s, one, fate, event)


def claim_fate(s, row, fate, event):
    if fate == "survives":
        s.test.assertIs(row["survives"], True)
    elif fate == "may survive":
        s.test.assertIsNone(row["survives"])
        s.test.assertTrue(s.is_capacity_bound)
    elif fate == "start too large":
        s.test.assertIs(row["survives"], False)
        s.test.assertIsNone(row["failed_event"])
    elif fate:
        s.test.assertIs(row["survives"], False)
        s.test.assertEqual(count(event), row["failed_event"])


def nothing(_s, *_):
    """Of fidelity: tests/replay/test_recordings.py holds its figures."""


def claim_caution(s, share):
    exact = s.fidelity["segment_events_matched"] == s.fidelity["segment_events_recorded"] == \
        s.fidelity["segment_events_predicted"] and s.fidelity["reserved_bytes_max_difference"] == 0
    s.test.assertFalse(exact)
    s.test.assertAlmostEqual(float(share.rstrip("%")), 100 * s.fidelity["share"], delta=0.06)


FORMS = [(re.compile(form), claim) for form, claim in (
    (rf"Read this with care: the replay of the recording itself has a fidelity of {P}\.",
     claim_caution),
    (rf"Fidelity unknown{GPU}: the recording shows no driver call to compare with, and none was "
     rf"predicted\. {N} of {N} requests? lie where they were\.", nothing),
    (rf"Fidelity {P}{GPU}: [^!]*?(?:equal at every event|\(\S+ off\)|lie where they were)\.",
     nothing),
    (r"First at event \d+: .*?(?=\n)", nothing),
    (rf"! {N} times?: [^.!]*(?:\d\.\d[^.!]*)*\.", nothing),
    (r"\(more kinds: replay --verify lists them\)", nothing),
    (r"! Capacity unknown: the file does not record what the device had, so here nothing runs out\. "
     r"Give it with --capacity=24GiB or --gpu=h100\.",
     lambda s: s.test.assertIsNone(s.capacity_bytes)),
    (rf"Capacity (at least )?{B}: ([^.]*)\.", claim_capacity),
    (rf"That is GPU {N}; others had more\. --device replays one at its own capacity\.", nothing),
    (rf"Floor {B}: what is live at the peak{GPU} \({EVENT}\), in pages\. No allocator can do with "
     r"less\.", claim_floor),
    (rf"When it was recorded, memory ran out{GPU} at {EVENT}\. (?:Nothing follows\.|The (?:{N} "
     r"events|event) that follows? (?:are|is) (?:what came of it, not|no part of) what led to "
     r"it\.)", claim_recorded_oom),
    (rf"No allocator setting saves this run: it needs {B} live, the device has {B}, {B} less\. "
     r"plimsoll inspect shows what holds it\.", claim_hopeless),
    (r"More is live than the device has: no allocator setting can help\.", claim_too_live),
    (rf"No setting that was tried saves this run\. The best of them needs {B}, {B} more than the "
     rf"device has; the floor is {B}\.", claim_unsaved),
    (rf"No setting that was tried saves this run with all that the device has\. The best of them "
     rf"survives with {B} and not with {B}: a cache that is given back earlier may break up less\. "
     rf"The floor is {B}\.", claim_unsaved_island),
    (rf"No setting that was tried is sure to survive: the best of them needs (at least )?{B}, and "
     rf"the device had at least {B}\. The floor is {B}\.", claim_undecided),
    (rf"Saved: with these settings the run survives at {B}, where (?:it dies at event {N}|not even "
     r"what stood before fits) under those it was recorded with\.", claim_saved),
    (r"These settings take less memory than those it was recorded under:", claim_less),
    (r"It survives as recorded, and these settings take less memory:", claim_survives_as_recorded),
    (r"It survives under the recorded settings, if what stood before is requested anew, and these "
     r"take less memory:", claim_survives_anew),
    (rf"With these settings the run survives with {B}, the least the device had:",
     claim_survives_bound),
    (r"Keep the recorded settings: of PyTorch's own that its release knows, none that was tried "
     r"takes 1% less memory\.", claim_kept),
    (rf"Hardly worth it, with {P} of needed and reserved memory saved: (\S+)", claim_hardly),
    (rf"Hardly worth it, with {P} of needed and reserved memory saved:(?=\n)", claim_hardly),
    (r"Not all events are replayed: what stood before is the start\.", nothing),
    (rf"It needs a capacity of {B} instead of (at least )?{B}: (?:at least )?{B} (less|more) "
     rf"\({P}\)\.", claim_needs),
    (rf"It needs a capacity of {B}, as the recorded settings do\.", claim_needs_like),
    (rf"It needs a capacity of {B}\.", claim_needs_alone),
    (rf"It reserves {B} instead of {B}: {B} (less|more) \({P}\)\.", claim_reserves),
    (rf"It reserves {B}, as the recorded settings do\.", claim_reserves_like),
    (rf"The floor is {B}\.", lambda s, floor: s.bytes(floor, s.floor_bytes)),
    (r"export PYTORCH_CUDA_ALLOC_CONF=(\S+)", claim_command),
    (r"unset PYTORCH_CUDA_ALLOC_CONF", lambda s: claim_command(s, "")),
    (r"and call torch\.cuda\.empty_cache\(\) after each optimizer step\.", claim_steps),
    (rf"and call torch\.cuda\.empty_cache\(\) once, before {EVENT}\.(?=\s)", claim_once),
    (r"PyTorch knows all of this since release ([\d.]+)\.(?= |\n)", claim_release),
    (r"What failed in the recording is served here; what the program would have requested next is "
     r"not recorded\.", claim_served),
    (rf"{N} replays?\. Needs: the smallest capacity it survives with, to 2 MiB; with > before it, "
     r"it was not searched further\. The order is that of what is needed and reserved, added up; "
     r"within 1% the plainest settings win\. Calls and time are the driver's, by a model of what "
     r"calls cost\.", claim_runs),
    (r"What stood before the first event lies as recorded under the recorded settings and is "
     r"requested anew under others, which may save some by itself: plimsoll tune compares on "
     r"equal terms\.",
     lambda s: s.test.assertTrue(any(one["start_allocations"] for one in s.devices))),
    (rf"Runs out of memory{GPU} at {EVENT}: {VERDICT}( So it did when it was recorded\.)?",
     claim_dies),
    (rf"With {B}, which is the least the device had, memory runs out{GPU} at {EVENT}: {VERDICT} "
     r"With more it may survive\.", claim_may_die),
    (rf"((?:The|At|By) (?:start the |shape of a tensor, the )?program (?:requested|made|wanted)"
     rf"{SENTENCE} {SENTENCE})", claim_why),
    (rf"What stood before the first event fits without {B} of cached memory{GPU}, which is taken "
     r"as given back\.", claim_released),
    (rf"{N} requests? that failed in the recording (?:is|are) served here\. What the program would "
     r"have requested next is not recorded\.", claim_served_here),
    (rf"what stands before the first event takes {B}, and the device has {B}; give it more "
     r"capacity", claim_no_start),
    (rf"GPU (\d+): (?:(survives|may survive|dies at event {N}), )?{B} reserved at most, {B} "
     rf"allocated, {N} driver calls?", claim_gpu),
)]

ROW = re.compile(rf"^\s+(>?)(?:{B}|-)?\s+(?:(survives|may survive|start too large|dies at {N})\s+)?"
                 rf"(?:{B})?\s.*?(\S+)?(?: \(.*\))?$")


class Claims(unittest.TestCase):
    def check_table(self, s, lines):
        """Fates and figures of rows, which are those of the document in its order."""
        rows = iter(s.results)
        has_needs, has_fate = "needs" in lines[0], " at " in lines[0]
        for line in lines[1:]:
            words = line.strip()
            if words.endswith(("the recording itself", "the floor")) or \
                    not re.match(r"(>?[\d.]+ [KMGT]iB|-|survives|dies|start) ", words):
                continue
            row = next(rows)
            if has_needs and row["min_capacity_bytes"] is not None:
                needs = re.match(rf"(>?){B}", words)
                self.assertIsNotNone(needs, line)
                self.assertEqual(bool(needs[1]), row["is_min_capacity_bound"], line)
                s.bytes(needs[2], row["min_capacity_bytes"])
            fate = re.search(rf"survives|may survive|start too large|dies at {N}", words)
            self.assertEqual(bool(fate), has_fate, line)
            if fate:
                claim_fate(s, row, fate[0].partition(" at ")[0], fate[1])
        self.assertIsNone(next(rows, None))

    def check_prose(self, s, text, headings):
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            line = text[at:].split("\n", 1)[0]
            heading = headings.get(line)
            if heading is not None and text[at - 1] == "\n":
                s.subject = heading
                at += len(line)
                continue
            for form, claim in FORMS:
                found = form.match(text, at)
                if found:
                    with self.subTest(sentence=found[0]):
                        claim(s, *found.groups())
                    at = found.end()
                    break
            else:
                self.fail("nothing is known of: " + text[at:at + 300])

    def check(self, command, path, *words):
        with self.subTest(command=command, path=path.name, words=words):
            s = Said(self, command, path, words)
            if s.status != 0:
                self.assertRegex(s.error, r": (there are no |what stands before the first event "
                                 r"takes |not a |this is )")
                return
            self.check_ranking(s)
            lines = s.page.splitlines()
            basis = lines.index("What this rests on")
            first = next(i for i, line in enumerate(lines) if line.startswith("recorded under: "))
            self.assertLess(basis, first)
            begin = next(i for i, line in enumerate(lines) if line.endswith(" settings")
                         and re.match(r"\s+(needs|at |reserved)", line))
            end = next(i for i in range(begin, len(lines)) if lines[i].endswith("the floor"))
            s.subject = s.best if command == "tune" else None
            headings = {} if command == "tune" else {
                (row["conf"] or "default") + (" (as recorded)" if row["is_recorded"] else ""): row
                for row in s.results}
            self.check_table(s, lines[begin:end + 1])
            self.assertLess(end, basis)  # the answer comes first
            prose = lines[1:begin] + lines[end + 1:basis] + lines[first + 1:]
            prose = [line for line in prose if line.strip() != "Tried, best first"]
            self.check_prose(s, "\n".join(line.strip() for line in prose) + "\n", headings)

    def check_ranking(self, s):
        """What every document says, whatever its page does."""
        for row in s.results:
            if s.capacity_bytes is None or s.is_capacity_bound:
                self.assertIsNot(row["survives"], False)
            if s.is_capacity_bound and row["survives"] and not row["is_min_capacity_bound"] and \
                    row["min_capacity_bytes"] is not None and not row["conf"].count("expandable"):
                self.assertLessEqual(row["min_capacity_bytes"] - STEP, s.capacity_bytes)
        if s.command == "replay":
            return
        known = [row for row in of_pytorch(s) if not row["is_min_capacity_bound"]
                 and (row["survives"], s.fails(row)) == (s.best["survives"], s.fails(s.best))]
        cheapest = min(cost(row) for row in known)
        self.assertLessEqual(cost(s.best), 1.01 * cheapest + 1)
        for row in known:
            if plainness(row) < plainness(s.best):
                self.assertGreater(cost(row) + 1, 1.01 * cheapest, row["conf"])
        self.assertFalse(s.best["is_too_new"])
        if not s.best["is_recorded"] and s.reference["survives"] == s.best["survives"]:
            self.assertGreater(s.gain, 0 if s.hardly_better_index == s.best_index else 0.0098)

    def check_file(self, path, *shares):
        """At the capacity the file tells, and at these between floor and recorded peak."""
        self.check("tune", path)
        self.check("replay", path, *(f"--conf={conf}" for conf in CONFS))
        done = run("replay", "--quick", "--json", path)
        if done.returncode != 0:
            return
        device = json.loads(done.stdout)["devices"][0]
        floor, peak = device["floor_bytes"], device["recorded_peak_reserved_bytes"]
        for share in shares:
            capacity = int(floor + share * (max(peak, floor) - floor))
            for command in ("tune", "replay"):
                self.check(command, path, f"--capacity={capacity}B")

    def test_of_our_recordings(self):
        for path in OWN:
            self.check_file(path, -0.1, 0.1, 0.5, 1.1)

    def test_of_rehearsals(self):
        for path in REHEARSALS[::3]:
            self.check_file(path, 0.2)

    def test_of_other_people(self):
        for path in OTHERS:
            self.check_file(path, 0.05, 0.6)

    def test_of_a_part_that_begins_in_the_middle(self):
        """The start holds what stood then, cache and all."""
        for name in ("train_gpt.pickle", "variable_lengths.pickle.gz"):
            path = pathlib.Path("tests/data/recordings", name)
            for capacity in ("120MiB", "200MiB", "260MiB", "700MiB"):
                for command in ("tune", "replay"):
                    self.check(command, path, "--from=2000", f"--capacity={capacity}")


if __name__ == "__main__":
    unittest.main()
