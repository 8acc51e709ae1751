#!/usr/bin/env python3
"""test_verdicts.py PLIMSOLL - no sentence on a failed request says more than its figures.

Each sentence that the judge may write is known here by its form, and its claim is worked out again
from the figures in the document. A sentence of no known form fails, too, unless it states no
figure and belongs to a topic that is judged without them. Messages and recordings of this
repository are read, and other people's where they are present.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv.pop(1)
MESSAGES = sorted(pathlib.Path("tests/data/messages").glob("*.[tl]*"))
OTHERS = pathlib.Path("../shared/data/oom-messages.jsonl")
RECORDINGS = sorted(pathlib.Path("tests/data/recordings").glob("*.pickle*"))
CLEAN = {key: value for key, value in os.environ.items()
         if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG")}
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50,
         "EiB": 1 << 60}
B = r"([\d.]+ (?:[KMGTPE]i)?B)"  # a size
VERDICTS = {"exhausted", "fragmented", "other_process", "capped", "oversized", "host", "not_oom",
            "unknown"}


def document(*words, stdin=None):
    done = subprocess.run([PLIMSOLL, *map(str, words)], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**CLEAN, "LC_ALL": "C.UTF-8"},
                          check=False, timeout=300)
    return json.loads(done.stdout)


def replayed(path):
    """What became of each conf that was replayed; alone, it is the document itself."""
    found = document("replay", "--json", path)
    return [found, *found.get("results", [])]


class Failure:
    """A judged request: its figures, and what follows from them by adding and taking away."""

    def __init__(self, test, where, members, figures, processes=()):
        self.test, self.where, self.members = test, where, members
        self.figures = {key: figures.get(key) for key in (
            "requested_bytes", "total_bytes", "free_bytes", "allocated_bytes", "reserved_bytes",
            "reserved_unallocated_bytes", "process_bytes", "limit_bytes", "private_pools_bytes",
            "other_allocations_bytes", "requested_from_shape_bytes", "shared_required_bytes",
            "shared_limit_bytes")}
        self.processes = processes
        for key, value in self.figures.items():
            setattr(self, key.removesuffix("_bytes"), value)
        self.wanted = self.requested if self.requested is not None else self.requested_from_shape
        self.held, self.unused = self.work_out_held()

    def work_out_held(self):
        unused = self.reserved_unallocated
        if self.reserved is not None:
            held = self.reserved
            if unused is None and self.allocated is not None:
                unused = max(0, self.reserved - self.allocated)
        elif self.allocated is not None and unused is not None:
            held = self.allocated + unused
        elif self.other_allocations is not None and self.allocated is not None:
            held = self.allocated + self.other_allocations
        else:
            held = self.allocated
        return held, unused

    def true(self, claim, words=""):
        self.test.assertTrue(claim, f"{self.where}: {self.members['why']} {words} {self.figures}")

    def size(self, words, *figures):
        """The words are one of the figures, to the digits that are shown."""
        number, unit = words.split()
        digits = len(number.partition(".")[2])
        near = [figure for figure in figures if figure is not None and
                abs(float(number) * UNITS[unit] - figure) <= 0.501 * UNITS[unit] / 10 ** digits]
        self.true(near, f"<{words}> of {figures}")

    def elsewhere(self):
        """The amounts that may be held elsewhere, by how the process's own share is known."""
        if self.total is None or self.free is None:
            return [sum(p["bytes"] for p in self.processes if not p["is_this"] and p["bytes"])]
        in_use = max(0, self.total - self.free)
        mine = [self.process, self.held] + [p["bytes"] for p in self.processes]
        return [max(0, in_use - one) for one in mine if one is not None]


# --- the first sentence ---

def claim_held(f, held):
    f.size(held, f.held)


def claim_held_unused(f, held, unused):
    f.size(held, f.held)
    f.size(unused, f.unused)


def claim_held_beside(f, held, beside):
    f.size(held, f.held)
    f.size(beside, f.other_allocations)
    f.true(f.held >= f.other_allocations)


def claim_free(f, free):
    f.size(free, f.free)


def claim_free_of(f, free, total):
    f.size(free, f.free)
    f.size(total, f.total)
    f.true(f.free <= f.total)


CLAUSES = [
    (rf"it held {B}", claim_held),
    (rf"it held {B} \({B} of it unused\)", claim_held_unused),
    (rf"it held {B} \({B} of it outside the allocator\)", claim_held_beside),
    (rf"{B} were live", lambda f, live: f.size(live, f.allocated)),
    (rf"{B} more lay outside the allocator", lambda f, more: f.size(more, f.other_allocations)),
    (rf"{B} were free", claim_free),
    (rf"{B} of {B} were free", claim_free_of),
    (rf"the device has {B}", lambda f, total: f.size(total, f.total)),
]
SUBJECTS = [
    (r"The program made a request that failed", lambda f: f.true(f.wanted is None)),
    (rf"At the start the program wanted {B}", lambda f, size: f.size(size, f.requested)),
    (rf"The compiled program needs {B}", lambda f, size: f.size(size, f.requested)),
    (rf"The program requested {B}", lambda f, size: f.size(size, f.requested)),
    (rf"By the shape of a tensor, the program requested {B}",
     lambda f, size: f.size(size, f.requested_from_shape)),
]


# --- the second ---

def claim_missing(f, missing):
    f.true(f.verdict == "exhausted" and f.unused is not None and f.free is not None)
    f.size(missing, f.wanted - f.unused - f.free)


def claim_no_room(f, bound):
    f.true(f.allocated + f.wanted >= (f.total if f.total is not None else f.limit))
    f.size(bound, f.total if f.total is not None else f.limit)


def claim_free_too_little(f, missing):
    f.size(missing, f.wanted - f.free)
    f.true(f.unused is None or f.free + f.unused >= f.wanted or f.verdict != "exhausted" or
           f.held is None)


def claim_gap(f, unused, wanted):
    f.size(unused, f.unused)
    f.size(wanted, f.wanted)
    f.true(f.unused >= f.wanted)
    f.true(f.verdict == "fragmented")


def claim_gap_and_free(f, together, wanted):
    f.size(together, f.unused + f.free)
    f.size(wanted, f.wanted)
    f.true(f.unused < f.wanted <= f.unused + f.free)
    f.true(f.verdict == "fragmented")


def claim_pool_gap(f, left, wanted):
    f.size(left, f.limit - f.allocated)
    f.size(wanted, f.wanted)
    f.true(f.limit - f.allocated >= f.wanted)


def claim_little_unused(f, unused, wanted):
    f.size(unused, f.unused)
    f.size(wanted, f.wanted)
    f.true(f.unused >= f.wanted and f.unused < 0.1 * f.held)


def claim_little_together(f, together, wanted):
    f.size(together, f.unused + f.free)
    f.size(wanted, f.wanted)
    f.true(f.unused + f.free >= f.wanted and f.unused < 0.1 * f.held)


def claim_crumbs(f, free):
    f.size(free, f.free)
    whole = f.total if f.total is not None else f.held + f.free
    f.true(f.wanted <= f.free < 0.02 * whole)


def claim_contradiction(f):
    f.true(f.free >= f.wanted and f.verdict == "unknown")


def claim_over(f, limit, over, alone=False):
    needed = f.wanted if alone else f.held + f.wanted
    f.size(limit, f.limit)
    f.size(over, needed - f.limit)
    f.true(needed > f.limit and f.verdict == "capped")


def claim_near_limit(f, near, limit):
    f.size(limit, f.limit)
    f.size(near, f.limit - f.held - f.wanted)
    f.true(f.held + f.wanted >= 0.995 * f.limit)


def claim_over_device(f, bound):
    f.size(bound, f.total, f.limit)
    f.true(f.wanted > min(one for one in (f.total, f.limit) if one is not None))
    f.true(f.verdict == "oversized")


def claim_others(f, elsewhere, _named, _pid, alone):
    if elsewhere not in ("the rest", "nearly all the rest"):
        f.size(elsewhere, *f.elsewhere())
    if alone is not None:
        f.size(alone, *[p["bytes"] for p in f.processes])
    f.true(f.verdict == "other_process")


def claim_others_hold_more(f, elsewhere, *named):
    claim_others(f, elsewhere, *named)
    f.true(max(f.elsewhere()) > f.held)


def claim_holds_little(f, elsewhere, *named):
    claim_others(f, elsewhere, *named)
    f.true(f.held < 0.1 * f.total)


def claim_share(f, missing):
    if missing != "a little":
        f.size(missing, f.requested - f.free)
        f.true(f.requested > f.free)


def claim_driver_pool(f, rest):
    f.size(rest, *f.elsewhere())
    f.true(f.allocated + f.wanted <= f.total * 1.001)


OTHERS_HOLD = r"thers hold (.+?)( \(process (\d+) alone (.+?)\))?"
SECONDS = [
    (rf"Live data and the request do not fit together: {B} were missing, all free and unused space "
     r"counted", claim_missing),
    (rf"Live data and the request do not fit together: there are {B} for all of it", claim_no_room),
    (rf"What was free was too little by {B}; how much of the rest is live is not known",
     claim_free_too_little),
    (rf"{B} reserved but unused would have covered the {B}, but not in one piece", claim_gap),
    (rf"Unused and free together, {B}, would have covered the {B}, but not in one piece",
     claim_gap_and_free),
    (rf"The pool's limit leaves {B}, which would have covered the {B}, but not in one piece",
     claim_pool_gap),
    (rf"The {B} unused would have covered the {B}, but under a tenth of what is held is unused: "
     r"hardly any fragmentation", claim_little_unused),
    (rf"Unused and free together, {B}, would have covered the {B}, but under a tenth of what is "
     r"held is unused: hardly any fragmentation", claim_little_together),
    (rf"The {B} that were free are the last of a full device: the driver's granularity takes the "
     r"difference", claim_crumbs),
    (r"That contradicts the error: suspect a limit that is not printed, a virtual GPU, a Windows "
     r"driver, or a reading that came too late", claim_contradiction),
    (rf"Together that passes the limit of {B} by {B}: the limit refused it, not the device",
     claim_over),
    (rf"That alone passes the limit of {B} by {B}: the limit refused it, not the device",
     lambda f, limit, over: claim_over(f, limit, over, True)),
    (rf"Together that comes within {B} of the limit of {B}: the limit refused it, not the device",
     claim_near_limit),
    (rf"That one request exceeds (?:the whole device of )?(?:the )?{B}(?: that may be had at "
     r"once)?, so nothing that is freed can make it fit", claim_over_device),
    (r"No device is that large: the size is computed wrongly somewhere, or overflowed",
     lambda f: f.true(f.wanted > 1 << 40)),
    (r"More is allocated than the device has, as when a driver for Windows or WSL lets it spill "
     r"into the host's: the device is more than full", lambda f: f.true(f.allocated > f.total)),
    (rf"O{OTHERS_HOLD}, more than this program: room is to be made there", claim_others_hold_more),
    (rf"This program holds a small part of the device: o{OTHERS_HOLD}, and room is to be made "
     r"there", claim_holds_little),
    (r"The share is missed by (.+) only: a slightly smaller one starts", claim_share),
    (rf"Live data and the request would fit: the other {B} are held by the driver's pool, which "
     r"keeps what was freed, or by other processes", claim_driver_pool),
]


def claim_elsewhere(f, elsewhere):
    f.size(elsewhere, *f.elsewhere())
    f.true(max(f.elsewhere()) >= max(f.wanted, f.total // 5))


def claim_pools(f, pools):
    f.size(pools, f.private_pools)
    f.true(f.private_pools >= f.wanted)


ADDITIONS = [
    (rf"{B} were held elsewhere, and freeing that would have been enough", claim_elsewhere),
    (rf"{B} lie in private pools, closed to ordinary requests", claim_pools),
    (rf"{B} more of this process are beside it \(context, libraries\)",
     lambda f, outside: f.size(outside, *[
         one - f.held for one in [f.process] + [p["bytes"] for p in f.processes]
         if one is not None and one >= f.held])),
]


def check(f, words, table):
    """Whether the words are of the table's; then what they claim is true."""
    for form, claim in table:
        found = re.fullmatch(form, words)
        if found:
            claim(f, *found.groups())
            return True
    return False


def check_first(f, sentence):
    subject, _, clauses = sentence.partition(" while ")
    if not check(f, subject, SUBJECTS):
        return False
    for clause in re.split(r", and (?=\d|the device|it held)", clauses) if clauses else []:
        f.true(check(f, clause, CLAUSES), f"<{clause}>")
    return True


def check_second(f, sentence):
    if check(f, sentence, SECONDS):
        return True
    words, _, addition = sentence.rpartition("; ")
    return bool(words) and check(f, words, SECONDS) and check(f, addition, ADDITIONS)


class Claims(unittest.TestCase):
    def check(self, where, members, figures, processes=()):
        with self.subTest(where=where):
            f = Failure(self, where, members, figures, processes)
            f.verdict = members["verdict"]
            self.assertIn(f.verdict, VERDICTS)
            self.assertEqual(members["certainty"] == "certain",
                             members["confidence"] >= 0.9 and not members["alternatives"])
            self.assertNotIn(f.verdict, members["alternatives"])
            first, second = re.fullmatch(r"((?:[^.]|\.(?=[\d\w]))+)\. ((?:[^.]|\.(?=[\d\w]))+)\.",
                                         members["why"]).groups()
            is_judged = check_first(f, first)
            is_known = check_second(f, second)
            f.true(is_known or not re.search(rf"{B}", second) or "64 MiB" in second)
            f.true(is_judged or not is_known or f.verdict in ("host", "not_oom", "capped",
                                                              "oversized", "unknown"))
            return is_known

    def check_messages(self, found, where):
        return sum(self.check(f"{where}:{one['line']}", one, one, one["processes"]) or 0
                   for one in found["messages"])

    def test_messages(self):
        known = sum(self.check_messages(document("explain", "--json", path), path.name)
                    for path in MESSAGES)
        self.assertGreaterEqual(known, 8)

    def test_messages_of_others(self):
        if not OTHERS.exists():
            self.skipTest(f"{OTHERS} is not there")
        texts = [json.loads(line)["text"] for line in OTHERS.read_text().splitlines()]
        known = 0
        for start in range(0, len(texts), 200):  # 1,000 messages of a text are kept
            found = document("explain", "--json", "-",
                             stdin="\n\n\n".join(texts[start:start + 200]).encode())
            known += self.check_messages(found, f"{OTHERS.name} {start}")
        self.assertGreater(known, 30)

    def test_recordings(self):
        known = 0
        for path in RECORDINGS:
            for device in document("inspect", "--json", path)["files"][0]["devices"]:
                for one in device["ooms"]:
                    known += self.check(f"{path.name} {one['event']}", one, one["figures"])
                    self.assertEqual(one["figures"]["block_bytes"], one["requested_bytes"])
                    self.assertEqual(one["figures"]["reserved_bytes"], one["reserved_bytes"])
        self.assertGreaterEqual(known, 3)

    def test_a_replay_as_recorded_fails_as_the_recording_did(self):
        compared = 0
        for path in RECORDINGS:
            ooms = [(device["device"], one) for device in
                    document("inspect", "--json", path)["files"][0]["devices"]
                    for one in device["ooms"]]
            if not ooms:
                continue
            for row in replayed(path):
                if not row.get("is_recorded") or row.get("failed_request") is None:
                    continue
                failure = row["failed_request"]
                self.check(f"{path.name} replayed", failure, failure["figures"])
                recorded = [one for device, one in ooms if one["event"] == row["failed_event"] and
                            device == row["device"]]
                for one in recorded:
                    same = all(failure["figures"][key] == one["figures"][key] for key in
                               ("requested_bytes", "free_bytes", "reserved_bytes",
                                "allocated_bytes"))
                    if same:
                        compared += 1
                        self.assertEqual(failure["verdict"], one["verdict"])
                        self.assertEqual(failure["why"].partition("were free. ")[2],
                                         one["why"].partition("were free. ")[2])
        self.assertGreaterEqual(compared, 1)


if __name__ == "__main__":
    unittest.main()
