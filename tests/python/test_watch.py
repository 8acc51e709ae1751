#!/usr/bin/env python3
"""test_watch.py - plimsoll.watch(): figures of steps and phases, and that it is never in the way."""

import os
import sys
import types
import unittest
from unittest import mock

from session import MIB, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "agent"))

import fake_torch  # noqa: E402

import plimsoll  # noqa: E402
from plimsoll import _agent, _intervals  # noqa: E402

_agent.load()
CAPACITY = 1 << 30


class Torch(types.ModuleType):
    """With one device that CUDA reaches once it is used."""

    def __init__(self, has_cuda=True):
        super().__init__("torch")
        self.__file__ = "/torch/__init__.py"
        self.__version__ = "2.11.0"
        self.device = fake_torch.Statistics()
        self.blocks = 0
        self.is_used = False
        self.waiting = []
        self._inductor = None
        self._C = types.SimpleNamespace()
        if has_cuda:
            self._C._cuda_memoryStats = self.stats
            self._C._cuda_resetPeakMemoryStats = self.device.reset_peak
            self._C._cuda_memorySnapshot = self._snapshot
        self.cuda = types.SimpleNamespace(
            is_initialized=lambda: self.is_used, device_count=lambda: 1, current_device=lambda: 0,
            is_current_stream_capturing=lambda: False,
            mem_get_info=lambda index: (CAPACITY, CAPACITY), _lazy_call=self._lazy_call,
            get_device_properties=lambda index: types.SimpleNamespace(total_memory=CAPACITY))

    def _snapshot(self, choice):
        """Blocks of 4 MiB, one after the other."""
        frames = [{"filename": os.path.join(os.getcwd(), "train.py"), "line": 88, "name": "train"}]
        block = {"size": 4 * MIB, "state": "active_allocated", "frames": frames}
        return {"segments": [{"device": 0, "address": 0, "blocks": self.blocks * [block]}]}

    def stats(self, device):
        blocks = {"all": {"current": self.blocks, "peak": self.blocks}}
        return {**self.device.stats(device), "active": blocks}

    def _lazy_call(self, call):
        if self.is_used:
            call()
        else:
            self.waiting.append(call)

    def use(self):
        self.is_used = True
        for call in self.waiting:
            call()
        self.waiting.clear()

    def allocate(self, count):
        self.use()
        self.device.allocate(count)
        self.blocks += 1

    def free(self, count):
        self.device.current -= count
        self.blocks -= 1

    def asked(self, name="peak"):
        """What the program gets to see."""
        return self._C._cuda_memoryStats(0)["allocated_bytes"]["all"][name]


class WatchTest(unittest.TestCase):
    def setUp(self):
        self.torch = self.put(Torch())

    def put(self, torch):
        patch = mock.patch.dict(sys.modules, torch=torch)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(_intervals._made.clear)
        _intervals._made.clear()
        return torch

    def watch(self, **words):
        made = plimsoll.watch(arm=False, **{"quiet": True, **words})
        self.addCleanup(made.close)
        return made


class StepTest(WatchTest):
    def test_a_step_has_its_own_peak(self):
        watch = self.watch()
        self.torch.allocate(100)
        self.torch.free(90)
        first = watch.step()
        self.torch.allocate(20)
        second = watch.step()
        self.assertEqual((first["memory/allocated_bytes"], first["memory/peak_allocated_bytes"]),
                         (10, 100))
        self.assertEqual((second["memory/allocated_bytes"], second["memory/peak_allocated_bytes"],
                          second["memory/reserved_bytes"], second["memory/num_ooms"]),
                         (30, 30, 30, 0))

    def test_the_program_sees_its_own_peaks(self):
        watch = self.watch()
        self.torch.allocate(100)
        self.torch.free(90)
        watch.step()
        self.assertEqual(self.torch.asked(), 100)
        self.torch._C._cuda_resetPeakMemoryStats(0)
        self.assertEqual(self.torch.asked(), 10)

    def test_a_reset_by_the_program_hides_nothing(self):
        watch = self.watch()
        self.torch.allocate(100)
        self.torch.free(90)
        self.torch._C._cuda_resetPeakMemoryStats(0)
        self.assertEqual(watch.step()["memory/peak_allocated_bytes"], 100)

    def test_figures_end_nothing(self):
        watch = self.watch()
        self.torch.allocate(100)
        self.torch.free(90)
        self.assertEqual(watch.figures(), watch.figures())
        self.assertEqual(watch.figures()["memory/peak_allocated_bytes"], 100)
        self.assertEqual(watch.step()["memory/peak_allocated_bytes"], 100)

    def test_what_was_before_the_watch_does_not_count(self):
        self.torch.allocate(100)
        self.torch.free(90)
        self.assertEqual(self.watch().step()["memory/peak_allocated_bytes"], 10)

    def test_two_watches_do_not_disturb_each_other(self):
        outer, inner = self.watch(), self.watch()
        self.torch.allocate(100)
        self.torch.free(90)
        inner.step()
        self.torch.allocate(5)
        self.assertEqual(inner.step()["memory/peak_allocated_bytes"], 15)
        self.assertEqual(outer.step()["memory/peak_allocated_bytes"], 100)
        inner.close()
        inner.close()
        self.assertEqual((inner.step(), inner.figures()), ({}, {}))
        self.assertEqual(outer.step()["memory/peak_allocated_bytes"], 15)


class PhaseTest(WatchTest):
    def peak(self, found, name):
        return found.get(f"memory/phase/{name}/peak_allocated_bytes")

    def test_each_has_its_peak(self):
        watch = self.watch()
        with watch.phase("forward"):
            self.torch.allocate(100)
        with watch.phase("backward"):
            self.torch.allocate(10)
            self.torch.free(60)
        found = watch.step()
        self.assertEqual((self.peak(found, "forward"), self.peak(found, "backward")), (100, 110))
        self.assertIsNone(self.peak(watch.step(), "forward"))

    def test_they_lie_in_one_another_and_come_again(self):
        watch = self.watch()
        with watch.phase("outer"):
            self.torch.allocate(10)
            for count in (50, 20):
                with watch.phase("inner"):
                    self.torch.allocate(count)
                    self.torch.free(count)
            self.torch.allocate(100)
        found = watch.step()
        self.assertEqual((self.peak(found, "inner"), self.peak(found, "outer")), (60, 110))

    def test_one_may_last_longer_than_a_step(self):
        watch = self.watch()
        watch.begin_phase("training")
        self.torch.allocate(100)
        self.torch.free(90)
        first = watch.step()
        watch.end_phase()
        self.assertEqual(self.peak(first, "training"), 100)
        self.assertEqual(self.peak(watch.step(), "training"), 10)

    def test_a_name_may_come_late(self):
        watch = self.watch()
        watch.begin_phase("train")
        self.torch.allocate(100)
        watch.end_phase("evaluation")
        watch.end_phase()  # none is open
        self.assertEqual(self.peak(watch.step(), "evaluation"), 100)

    def test_it_passes_exceptions_on(self):
        watch = self.watch()
        with self.assertRaises(KeyError), watch.phase("forward"):
            self.torch.allocate(100)
            raise KeyError
        self.assertEqual(self.peak(watch.step(), "forward"), 100)


class AbsenceTest(WatchTest):
    def silent(self):
        with plimsoll.watch(arm=False) as watch, watch.phase("x"):
            self.assertEqual((watch.step(), watch.figures(), watch.dumps, watch.warnings),
                             ({}, {}, [], []))

    def test_without_torch(self):
        sys.modules.pop("torch")
        self.silent()

    def test_without_cuda(self):
        self.silent()  # not in use
        self.put(Torch(has_cuda=False))
        self.silent()

    def test_failures_of_ours_stay_ours(self):
        watch = self.watch()
        self.torch.allocate(10)
        self.torch.cuda.current_device = None
        self.assertEqual((watch.step(), watch.figures()), ({}, {}))
        self.assertIn("TypeError", repr(watch))


class GrowthTest(WatchTest):
    def setUp(self):
        super().setUp()
        self.garbage = 0
        self.searches = 0
        from plimsoll_agent import holders

        patch = mock.patch.object(holders, "find", self.find)
        patch.start()
        self.addCleanup(patch.stop)

    def find(self, torch, seconds):
        self.searches += 1
        blocks = [[4 * MIB * at, 4 * MIB, ""] for at in range(self.torch.blocks)]
        return {"holders": [{"id": 0, "text": "list `losses` in train (train.py:90)",
                             "blocks": blocks}], "garbage": {"bytes": self.garbage}}

    def leak(self, watch, steps, first=1):
        for step in range(first, first + steps):
            self.torch.allocate(4 * MIB)
            watch.step(step)

    def test_a_leak_is_warned_of_within_ten_steps_and_once(self):
        watch = self.watch()
        self.torch.allocate(4 * MIB)
        for step in range(1, 51):
            watch.step(step)
        self.leak(watch, 10, first=51)
        self.assertEqual(watch.warnings, [
            "allocated memory of GPU 0 has grown by 4 MiB a step since step 50, at train.py:88, held "
            "by list `losses` in train (train.py:90); full at about step 305, if that goes on"])
        self.leak(watch, 100, first=61)
        self.assertEqual((len(watch.warnings), self.searches), (1, 1))

    def test_garbage_is_not_growth(self):
        watch = self.watch()
        self.garbage = CAPACITY
        self.leak(watch, 60)
        self.assertEqual((watch.warnings, self.searches), ([], 2))  # each of four times the rise

    def test_without_growth_nothing_is_searched(self):
        watch = self.watch(growth=False)
        self.leak(watch, 60)
        self.assertEqual((watch.warnings, self.searches), ([], 0))

    def test_a_rank_says_which_it_is(self):
        with mock.patch.dict(os.environ, RANK="3", WORLD_SIZE="8"):
            watch = self.watch()
            self.leak(watch, 20)
        self.assertTrue(watch.warnings[0].startswith("rank 3: allocated"), watch.warnings)


if __name__ == "__main__":
    unittest.main()
