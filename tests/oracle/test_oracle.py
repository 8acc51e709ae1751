#!/usr/bin/env python3
"""Tests of the oracle itself: figures worked out by hand, and that a wrong figure is noticed."""

import copy
import io
import sys
import unittest

import hand_made
from allocator_sim import MIB
from inspect_oracle import PlainUnpickler, differences, divisions_of, inspect, rounded
from pickle_forms import hostile_pickles, plain_samples

HELD = [hand_made.block(0, 1024, requested=1000)]


def figures_of(events, blocks):
    return inspect(hand_made.tiny(events, blocks))[0]["devices"][0]


class Rounding(unittest.TestCase):
    def test_without_divisions(self):
        for size, expected in ((1, 512), (512, 512), (513, 1024), (MIB, MIB), (MIB + 1, MIB + 512)):
            self.assertEqual(rounded(size, [0] * 16), expected)
            self.assertEqual(rounded(size, [1] * 16), expected)

    def test_with_divisions(self):
        for size, division, expected in (
            (1200, 4, 1536),
            (2049, 4, 2560),
            (3000, 4, 3072),
            (5_000_000, 4, 5_242_880),
            (1_048_577, 2, 1_572_864),
            (4 * MIB, 8, 4 * MIB),
            (1 << 40, 4, 1 << 40),
        ):
            self.assertEqual(rounded(size, [division] * 16), expected)

    def test_division_of_an_interval(self):
        divisions = divisions_of(
            {"roundup_power2_divisions": {"1": 0, "2": 4, "256": 8, "32768": 2}}
        )
        self.assertEqual(divisions, [0, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 2])
        self.assertEqual(rounded(2 * MIB + 1, divisions), 2 * MIB + MIB // 2)
        self.assertEqual(rounded(2 * MIB - 1, divisions), 2 * MIB)
        self.assertEqual(rounded((1 << 38) + 1, divisions), (1 << 38) + (1 << 37))


class Figures(unittest.TestCase):
    def check(self, figures, start, peak, event, live, allocated, end):
        moment = figures["peak"]
        self.assertEqual(
            (
                figures["start"]["requested_bytes"],
                moment["requested_bytes"],
                moment["event"],
                moment["live_count"],
                moment["allocated_bytes"],
                figures["end"]["requested_bytes"],
            ),
            (start, peak, event, live, allocated, end),
        )

    def test_one_life(self):
        self.check(figures_of(hand_made.life(0, 1000), []), 0, 1000, 0, 1, 1024, 0)

    def test_block_that_was_never_traced(self):
        self.check(figures_of([], HELD), 1000, 1000, -1, 1, 1024, 1000)

    def test_free_without_alloc(self):
        self.check(figures_of(hand_made.life(512, 300)[1:], HELD), 1300, 1300, -1, 2, 1536, 1000)

    def test_peak_above_start(self):
        events = [hand_made.event("alloc", 1024, 10), *hand_made.life(2048, 700)]
        blocks = HELD + [hand_made.block(1024, 2048, requested=10)]
        self.check(figures_of(events, blocks), 1000, 1710, 1, 3, 1024 + 2048 + 1024, 1010)

    def test_life_ends_at_the_request(self):
        events = [
            hand_made.event("alloc", 0, 600),
            hand_made.event("free_requested", 0, 600),
            hand_made.event("alloc", 1024, 500),
            hand_made.event("free_completed", 0, 600),
        ]
        self.check(
            figures_of(
                events,
                [hand_made.block(0, 1024, "inactive"), hand_made.block(1024, 512, requested=500)],
            ),
            0,
            600,
            0,
            1,
            1024,
            500,
        )

    def test_life_ends_at_completion_where_no_request_is_recorded(self):
        events = [
            hand_made.event("alloc", 0, 600),
            hand_made.event("alloc", 1024, 500),
            hand_made.event("free_completed", 0, 600),
        ]
        self.check(
            figures_of(
                events,
                [hand_made.block(0, 1024, "inactive"), hand_made.block(1024, 512, requested=500)],
            ),
            0,
            1100,
            1,
            2,
            1024 + 512,
            500,
        )

    def test_contradiction_is_not_part_of_the_start(self):
        self.check(figures_of(hand_made.life(0, 1000), HELD), 0, 1000, 0, 1, 1024, 1000)

    def test_double_free(self):
        self.check(
            figures_of(hand_made.life(0, 1000) + hand_made.life(0, 1000)[1:], []),
            0,
            1000,
            0,
            1,
            1024,
            0,
        )

    def test_end(self):
        segments = [
            {
                "device": 0,
                "address": 0,
                "total_size": 10 * 512,
                "blocks": [
                    {"size": 512, "requested_size": 5, "state": "active_allocated"},
                    {"size": 1024, "requested_size": 9, "state": "inactive"},
                    {"size": 2048, "requested_size": 7, "state": "active_pending_free"},
                    {"size": 1536, "requested_size": 0, "state": "inactive"},
                ],
            },
            {
                "device": 0,
                "address": MIB,
                "total_size": MIB,
                "blocks": [{"size": MIB, "state": "inactive"}],
            },
        ]
        self.assertEqual(
            inspect(segments)[0]["devices"][0]["end"],
            {
                "requested_bytes": 5,
                "allocated_bytes": 512,
                "active_bytes": 2560,
                "reserved_bytes": MIB + 5120,
                "inactive_split_bytes": 2560,
                "releasable_bytes": MIB,
                "largest_free_block_bytes": MIB,
                "segments": 2,
                "blocks": 5,
            },
        )

    def test_reserved_at_the_peak(self):
        events = [
            hand_made.event("segment_alloc", 0, 2 * MIB),
            hand_made.event("alloc", 0, 1000),
            hand_made.event("segment_alloc", 64 * MIB, 20 * MIB),
            hand_made.event("segment_free", 64 * MIB, 20 * MIB),
            hand_made.event("segment_free", 128 * MIB, 7 * MIB),
        ]
        self.assertEqual(figures_of(events, HELD)["peak"]["reserved_bytes"], 9 * MIB)

    def test_out_of_memory(self):
        oom = {"action": "oom", "device_free": 7, "size": 1 << 30, "stream": 0}
        figures = figures_of(
            [hand_made.event("alloc", 0, 1000), oom, *hand_made.life(0, 1000)[1:]], []
        )
        self.assertEqual(
            figures["ooms"],
            [
                {
                    "event": 1,
                    "requested_bytes": 1 << 30,
                    "device_free_bytes": 7,
                    "live_requested_bytes": 1000,
                }
            ],
        )
        self.assertEqual(figures["duration_us"], 30)


class Reading(unittest.TestCase):
    def test_hostile_pickles_are_refused(self):
        for hostile in hostile_pickles({"segments": []}):
            with self.assertRaises(Exception, msg=hostile.name):
                PlainUnpickler(io.BytesIO(hostile.data)).load()

    def test_samples_are_what_they_say(self):
        for name, data, value in plain_samples():
            if value is not None:
                self.assertEqual(PlainUnpickler(io.BytesIO(data)).load(), value, name)


class Comparing(unittest.TestCase):
    def test_every_figure_matters(self):
        frame = {"filename": "a.py", "line": 1, "name": "f"}
        oom = {"action": "oom", "device_free": 7, "size": 1 << 30, "stream": 0}
        events = [hand_made.event("alloc", 0, 1000, frames=[frame]), oom]
        good = inspect(hand_made.tiny(events, HELD))[0]
        self.assertEqual(differences(good, copy.deepcopy(good)), [])

        def spoil(value):
            if isinstance(value, dict):
                for key in value:
                    yield from (
                        (value, key, new) for new in (spoiled(value[key]),) if new is not None
                    )
                    yield from spoil(value[key])
            elif isinstance(value, list):
                for item in value:
                    yield from spoil(item)

        def spoiled(leaf):
            if isinstance(leaf, int):
                return leaf + 1
            return leaf + "x" if isinstance(leaf, str) else None

        bad = copy.deepcopy(good)
        count = 0
        for holder, key, new in list(spoil(bad)):
            old, holder[key] = holder[key], new
            self.assertNotEqual(differences(good, bad), [], f"{key} {new}")
            holder[key] = old
            count += 1
        self.assertGreater(count, 25)
        for key in good["devices"][0]:
            bad = copy.deepcopy(good)
            del bad["devices"][0][key]
            self.assertNotEqual(differences(good, bad), [], key)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=1).result.wasSuccessful())
