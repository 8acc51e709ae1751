#!/usr/bin/env python3
"""test_live_steady.py - growth from exact figures: a leak within ten steps, silence of healthy programs.

A program is drawn with its blocks: parameters, what the first step makes, what is left of the last
batch, evaluation, caches. Its figures at the end of each step are those that a watch sees.
"""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/agent"))

from plimsoll_agent.live.growth import Growth  # noqa: E402
from plimsoll_agent.live.steady import FEW, MANY  # noqa: E402

MIB, GIB = 1 << 20, 1 << 30
DRAWS = 10
STEPS = 300
CAPACITIES = (2 * GIB, 80 * GIB)
WITHIN = 10


class Program:
    """Of a seed: (bytes, blocks) at the end of each step."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.layers = self.random.randint(2, 200)
        self.layer = self.random.randint(64 << 10, 16 * MIB // max(1, self.layers // 10))

    def plain(self, steps=STEPS):
        """Parameters; states from the first step on; the last batch."""
        batch = self.random.randint(1 << 10, 8 * MIB)
        return [(3 * self.layers * self.layer + batch, 3 * self.layers + 4)] * steps

    def warm_up(self):
        """More is made in each of the first steps: workspaces, buckets, states of late optimizers."""
        made, values = (0, 0), []
        for step, (count, blocks) in enumerate(self.plain()):
            if step < self.random.randint(1, 7):
                made = (made[0] + self.random.randint(1, 64) * MIB, made[1] + self.random.randint(1, 9))
            values.append((count + made[0], blocks + made[1]))
        return values

    def lengths(self):
        """What is left of a batch of any length: as many blocks, other bytes."""
        return [(count + self.random.randint(1, 2048) * (64 << 10), blocks)
                for count, blocks in self.plain()]

    def sorted_lengths(self):
        """Each batch longer than the one before."""
        return [(count + at * MIB, blocks) for at, (count, blocks) in enumerate(self.plain())]

    def evaluation(self):
        """Every so often more is there at the end of a step; sometimes the best weights stay."""
        every, best, values = self.random.randint(2, 40), 0, []
        for at, (count, blocks) in enumerate(self.plain()):
            is_due = at % every == every - 1
            best = best or (is_due and self.random.random() < 0.2)
            more = self.random.randint(1, 256) * MIB if is_due else 0
            values.append((count + more + best * self.layers * self.layer,
                           blocks + (is_due and 12) + best * self.layers))
        return values

    def few_shapes(self):
        """A cache with a place for each of few shapes, of their own sizes: it stops."""
        shapes = [self.random.randint(1, 64) * (256 << 10)
                  for _ in range(self.random.randint(2, 32))]
        known, values = set(), []
        for count, blocks in self.plain():
            known.add(self.random.randrange(len(shapes)))
            values.append((count + sum(shapes[one] for one in known), blocks + len(known)))
        return values

    def short_cache(self):
        """A place for each of some batches, all of one size: full before it is steady."""
        size, places = self.random.randint(1, 32) * MIB, self.random.randint(1, FEW - 1)
        begins = self.random.randint(0, 100)
        return [(count + size * min(max(at - begins, 0), places),
                 blocks + min(max(at - begins, 0), places))
                for at, (count, blocks) in enumerate(self.plain())]

    def garbage(self):
        """Cycles that the collector frees now and then, before they are steady."""
        size, period = self.random.randint(1, 32) * MIB, self.random.randint(2, FEW)
        return [(count + size * (at % period), blocks + 3 * (at % period))
                for at, (count, blocks) in enumerate(self.plain())]

    def settles(self):
        """Entries that become rarer."""
        size, left, kept, values = self.random.randint(1, 16) * MIB, 1.0, 0, []
        slower = self.random.uniform(0.6, 0.85)  # else nine come in a row
        for count, blocks in self.plain():
            kept += self.random.random() < left
            left *= slower
            values.append((count + size * kept, blocks + kept))
        return values

    def scalars(self):
        """Losses that a logger keeps until it writes them: 512 bytes each."""
        every = self.random.randint(5, 100)
        return [(count + 512 * (at % every), blocks + at % every)
                for at, (count, blocks) in enumerate(self.plain())]

    def scalars_and_lengths(self):
        """Blocks grow as steadily as a leak's for long, bytes by the lengths of batches."""
        every = self.random.randint(50, 500)
        return [(count + 512 * (at % every), blocks + at % every)
                for at, (count, blocks) in enumerate(self.lengths())]

    def phases(self):
        """Layers unfrozen one after the other, each with states of its own."""
        every = self.random.randint(2, 30)
        return [(count + 3 * self.layer * (at // every), blocks + 3 * (at // every))
                for at, (count, blocks) in enumerate(self.plain())]


HEALTHY = ("plain", "warm_up", "lengths", "sorted_lengths", "evaluation", "few_shapes",
           "short_cache", "garbage", "settles", "scalars", "scalars_and_lengths", "phases")


def steady(values, capacity):
    """The step of the first growth that is found, with it, or None."""
    growth = Growth(capacity, is_exact=True)
    for step, (count, blocks) in enumerate(values, 1):
        growth.add(step, count, blocks)
        if growth.found is not None and not growth.found.is_sure:
            return step, growth.found
    return None


def leaking(values, begin, size, blocks=1, sizes=None):
    """The same with a leak from a step on; its figures are seen at the end of that step."""
    kept, leaked = 0, []
    for step, (count, others) in enumerate(values, 1):
        if step >= begin:
            kept += sizes() if sizes is not None else size
        leaked.append((count + kept, others + blocks * max(step - begin + 1, 0)))
    return leaked


class TestHealthy(unittest.TestCase):
    def test_silence(self):
        for kind in HEALTHY:
            alarms = []
            for seed in range(DRAWS):
                for capacity in CAPACITIES:
                    found = steady(getattr(Program(seed), kind)(), capacity)
                    if found is not None:
                        alarms.append((seed, capacity >> 30, found[0]))
            with self.subTest(kind=kind):
                self.assertEqual(alarms, [])


class TestLeaks(unittest.TestCase):
    def test_within_ten_steps(self):
        for kind in ("plain", "short_cache"):
            for seed in range(DRAWS):
                for begin in (1, 2, 5, 150):
                    for size, blocks in ((MIB, 1), (40 * MIB, 7)):
                        with self.subTest(kind=kind, seed=seed, begin=begin, size=size):
                            healthy = Program(seed).plain()
                            step, found = steady(leaking(healthy, begin, size, blocks), 24 * GIB)
                            self.assertLessEqual(step, begin + WITHIN)
                            self.assertAlmostEqual(found.bytes_per_step, size, delta=1)
                            self.assertLessEqual(abs(found.since_step - begin), 1)

    def test_after_a_warm_up(self):
        """The first steps make more: ten steps from the one that no longer does."""
        for seed in range(DRAWS):
            step, _ = steady(leaking(Program(seed).warm_up(), 1, 32 * MIB), 24 * GIB)
            self.assertLessEqual(step, 7 + WITHIN)

    def test_under_evaluations(self):
        """A value that evaluation adds to is left out."""
        for seed in range(DRAWS):
            values = [(count + (99 * MIB if at % 7 == 6 else 0), blocks + (at % 7 == 6))
                      for at, (count, blocks) in enumerate(Program(seed).plain())]
            step, found = steady(leaking(values, 100, 2 * MIB), 24 * GIB)
            self.assertLessEqual(step, 100 + FEW + 4)
            self.assertAlmostEqual(found.bytes_per_step, 2 * MIB, delta=1)

    def test_batches_of_many_lengths_take_longer(self):
        """Blocks show it, bytes do not."""
        for seed in range(DRAWS):
            program = Program(seed)
            values = leaking(program.lengths(), 100, 0, 5,
                             lambda: program.random.randint(16, 48) * MIB)
            step, found = steady(values, 24 * GIB)
            self.assertLessEqual(step, 100 + 2 * MANY)
            self.assertAlmostEqual(found.bytes_per_step / MIB, 32, delta=12)

    def test_a_small_program_on_a_large_device(self):
        """Growth that doubles it within 1,000 steps is worth one; what a logger keeps is not."""
        values = [(60 * MIB, 90)] * 40
        step, found = steady(leaking(values, 15, 256 << 10), 80 * GIB)
        self.assertLessEqual(step, 15 + WITHIN)
        self.assertEqual(found.bytes_per_step, 256 << 10)
        self.assertIsNone(steady(leaking(values, 15, 32 << 10), 80 * GIB))
        self.assertIsNone(steady(leaking([(MIB >> 2, 9)] * 40, 15, 4 * 512, 4), 80 * GIB))

    def test_slow_growth_is_not_worth_a_sentence(self):
        values = Program(1).plain()
        self.assertIsNone(steady(leaking(values, 5, 4 << 10), 24 * GIB))

    def test_growth_in_one_block_is_left_to_the_first_judge(self):
        values = Program(1).plain()
        self.assertIsNone(steady(leaking(values, 5, 2 * MIB, blocks=0), 80 * GIB))

    def test_taken_back_where_it_ends(self):
        growth = Growth(24 * GIB, is_exact=True)
        for step, (count, blocks) in enumerate(leaking(Program(1).plain(30), 5, MIB), 1):
            growth.add(step, count, blocks)
        self.assertIsNotNone(growth.found)
        growth.add(31, count, blocks)
        self.assertIsNone(growth.found)

    def test_a_second_loop_counts_anew(self):
        growth = Growth(24 * GIB, is_exact=True)
        for count, blocks in 5 * [(MIB, 1)]:
            for step in range(1, 4):
                count, blocks = count + MIB, blocks + 1
                growth.add(step, count, blocks)
        self.assertIsNone(growth.found)

    def test_the_first_judge_is_sure_of_it_later(self):
        growth = Growth(4 * GIB, is_exact=True)
        sure = []
        for step, (count, blocks) in enumerate(leaking(Program(3).plain(), 1, 8 * MIB), 1):
            growth.add(step, count, blocks)
            sure.append(growth.found is not None and growth.found.is_sure)
        self.assertFalse(any(sure[:WITHIN + 2]))
        self.assertTrue(sure[-1])

    def test_a_program_of_another_kind_is_judged_as_before(self):
        growth = Growth(24 * GIB)
        for step, (count, blocks) in enumerate(leaking(Program(1).plain(60), 1, MIB), 1):
            growth.add(step, count, blocks)
            self.assertIsNone(growth.found)


if __name__ == "__main__":
    unittest.main()
