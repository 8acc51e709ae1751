#!/usr/bin/env python3
"""test_live_growth.py - the judge of growth: late rather than false.

The series are those of tests/trend/made.c, a value a step as a program would make them; each value
may be the one at which an alarm is given.
"""

import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/agent"))

from plimsoll_agent.live.growth import WARM_UP, WINDOWS_MIN, Growth  # noqa: E402

GB = 10**9
DRAWS = 12
STEPS_MAX = 1500
CAPACITIES = (1.6 * GB, 4 * GB, 80 * GB)


class Series:
    """Draws of a kind; values are shares of the base."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = self.random.randint(60, STEPS_MAX)

    def noise(self):
        share = self.random.choice([0, 0, 0.001, 0.02, 0.05])
        return [self.random.uniform(-share, share) for _ in range(self.count)]

    def flat(self):
        return [1 + noise for noise in self.noise()]

    def outliers(self):
        return [value * (math.exp(self.random.gauss(0, 1)) if self.random.random() < 0.03 else 1)
                for value in self.flat()]

    def low_start(self):
        low = self.random.randint(1, WARM_UP)
        return [0.3 if at < low else value for at, value in enumerate(self.flat())]

    def evaluation(self):
        every = self.random.randint(5, 200)
        width = self.random.randint(1, max(1, min(6, every // 4)))
        return [value + (0.6 if at % every >= every - width else 0)
                for at, value in enumerate(self.flat())]

    def sawtooth(self):
        """By the collector: several teeth within a window of those that are looked at."""
        period = self.random.randint(3, WINDOWS_MIN - 3)
        return [value + 0.4 * (at % period) / period for at, value in enumerate(self.flat())]

    def lengths(self):
        """Batches of any length: what is left over from the last one."""
        return [1 + abs(self.random.gauss(0, 0.2)) for _ in range(self.count)]

    def settles(self):
        pace = self.random.uniform(0.02, 0.25) * self.count
        low = self.random.uniform(0.1, 0.75)
        return [1 - (1 - low) * math.exp(-at / pace) + noise
                for at, noise in enumerate(self.noise())]

    def slower_and_slower(self):
        low = self.random.uniform(0.1, 0.6)
        return [low + (1 - low) * math.log1p(at) / math.log(self.count) + noise
                for at, noise in enumerate(self.noise())]

    def stairs_that_end(self):
        stairs = [self.random.randint(0, self.count // 2) for _ in range(self.random.randint(1, 8))]
        return [value + 0.2 * sum(at >= stair for stair in stairs)
                for at, value in enumerate(self.flat())]

    def wanders(self):
        level, values = 1.0, []
        for _ in range(self.count):
            level = max(level + self.random.gauss(0, 0.001), 0.1)
            values.append(level)
        return values


HEALTHY = ("flat", "outliers", "low_start", "evaluation", "sawtooth", "lengths", "settles",
           "slower_and_slower", "stairs_that_end", "wanders")


def alarm(values, capacity, piles_up=True):
    """(the step of the alarm, what was found), or None."""
    growth = Growth(capacity)
    for step, value in enumerate(values, 1):
        growth.add(step, int(value * GB), step if piles_up else 7)
        if growth.found is not None:
            return step, growth.found
    return None


def leak(count, rate, begin=0, noise=0.0, seed=1):
    draw = random.Random(seed)
    return [1 + rate * max(0, at - begin) + draw.uniform(-noise, noise) for at in range(count)]


class TestHealthy(unittest.TestCase):
    def test_no_alarm(self):
        for kind in HEALTHY:
            for seed in range(DRAWS):
                for capacity in CAPACITIES:
                    with self.subTest(kind=kind, seed=seed, capacity=capacity):
                        self.assertIsNone(alarm(getattr(Series(seed), kind)(), capacity))

    def test_a_batch_that_gets_longer_needs_more_evidence(self):
        values = leak(900, 0.001)  # to three tenths of what was free
        self.assertIsNotNone(alarm(values, 4 * GB))
        self.assertIsNone(alarm(values, 4 * GB, piles_up=False))

    def test_little_growth_is_not_worth_an_alarm(self):
        self.assertIsNone(alarm(leak(2000, 0.0001), 80 * GB))


class TestLeaks(unittest.TestCase):
    def test_found_with_most_of_the_room_left(self):
        for rate in (0.0005, 0.003, 0.02):
            for noise in (0, 0.001, 0.01):
                for begin in (0, 300):
                    with self.subTest(rate=rate, noise=noise, begin=begin):
                        full = begin + int(3 / rate)
                        found = alarm(leak(full, rate, begin, noise), 4 * GB)
                        self.assertIsNotNone(found)
                        step, what = found
                        self.assertLess(step - begin, 0.45 * (full - begin) + WINDOWS_MIN)
                        self.assertAlmostEqual(what.bytes_per_step / (rate * GB), 1, delta=0.15)
                        self.assertGreater(what.rise, 0)

    def test_the_step_it_began_at(self):
        _, what = alarm(leak(3000, 0.003, begin=500), 4 * GB)
        self.assertLess(abs(what.since_step - 500), 40)
        _, what = alarm(leak(3000, 0.003), 4 * GB)
        self.assertLess(what.since_step, 40)

    def test_under_evaluations_and_sawteeth(self):
        saw = [value + 0.3 * (at % 7) / 7 for at, value in enumerate(leak(1500, 0.002))]
        peaks = [value + (0.5 if at % 50 == 0 else 0) for at, value in enumerate(leak(1500, 0.002))]
        for values in (saw, peaks):
            step, what = alarm(values, 4 * GB)
            self.assertLess(step, 1000)
            self.assertAlmostEqual(what.bytes_per_step / (0.002 * GB), 1, delta=0.1)

    def test_is_near_before_it_is_sure(self):
        growth = Growth(4 * GB)
        near = sure = None
        for step, value in enumerate(leak(1500, 0.002), 1):
            growth.add(step, int(value * GB), step)
            near = near or (growth.is_near and step)
            sure = sure or (growth.found is not None and step)
        self.assertLess(near, sure)

    def test_taken_back_where_it_ends(self):
        growth = Growth(4 * GB)
        for step, value in enumerate(leak(400, 0.002) + [1.8] * 800, 1):
            growth.add(step, int(value * GB), step)
            if step == 400:
                self.assertIsNotNone(growth.found)
        self.assertIsNone(growth.found)


class TestCost(unittest.TestCase):
    def test_what_is_kept_is_bounded(self):
        growth = Growth(4 * GB)
        for step in range(20000):
            growth.add(step, GB, 1)
        self.assertLess(sum(len(width.windows) for width in growth._widths), 700)


if __name__ == "__main__":
    unittest.main()
