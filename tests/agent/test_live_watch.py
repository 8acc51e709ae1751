#!/usr/bin/env python3
"""test_live_watch.py - growth while a program runs: one line, and --stop-on as Ctrl-C would do."""

import os
import pathlib
import subprocess
import sys
import types
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1] / "src/agent"))

from plimsoll_agent.journal import Journal  # noqa: E402
from plimsoll_agent.live import publisher as publishers  # noqa: E402
from plimsoll_agent.live import stopping, watch  # noqa: E402
from plimsoll_agent.live.lines import gained_most, holds_most  # noqa: E402
from test_live_page import GIB, Recorder  # noqa: E402

MIB = 1 << 20


def with_memory(stop_on=()):
    """A recorder whose device has 10 GiB free, and the blocks that are allocated by line."""
    recorder = Recorder()
    torch = recorder.torch
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.mem_get_info = lambda index: (10 * GIB, 80 * GIB)
    torch.blocks = []
    torch._inductor = None
    stats = torch._C._cuda_memoryStats
    torch._C._cuda_memoryStats = lambda device: {
        **stats(device), "active": {"all": {"current": len(torch.blocks), "peak": 0}}}
    torch._C._cuda_memorySnapshot = lambda choice: {
        "segments": [{"device": 0, "address": 0, "blocks": torch.blocks}]}
    recorder.choice.stop_on = stop_on
    return recorder


def step(recorder, publisher, number, kept=64 * MIB):
    recorder.torch.allocate(kept)
    recorder.torch.blocks.append({
        "state": "active_allocated", "size": kept,
        "frames": [{"filename": "/torch/nn.py", "line": 5, "name": "forward"},
                   {"filename": os.path.join(os.getcwd(), "train.py"), "line": 88, "name": "train"}]})
    publisher.stepped(number)


class TestGrowth(unittest.TestCase):
    def setUp(self):
        patch = unittest.mock.patch.object(publishers, "STEPS_SECONDS", 1000)  # none is left out
        patch.start()
        self.addCleanup(patch.stop)
        self.recorder = with_memory()
        self.publisher = publishers.Publisher(self.recorder, {"PLIMSOLL_LIVE": "off"})
        self.publisher.begin()
        self.addCleanup(self.publisher.end)

    def run_steps(self, count, kept=64 * MIB, first=1):
        for number in range(first, first + count):
            step(self.recorder, self.publisher, number, kept)

    def test_one_line_when_it_is_sure(self):
        self.run_steps(100)
        self.assertEqual(len(self.recorder.said), 1)
        line = self.recorder.said[0]
        self.assertRegex(line, r"^allocated memory of GPU 0 grows 64 MiB a step since step \d+, "
                               r"at train.py:88; full at about step 16\d$")
        found, = self.publisher.growth()
        self.assertEqual((found["device"], found["bytes_per_step"], found["where"]),
                         (0, 64 * MIB, "train.py:88 train"))

    def test_no_second_line_where_the_programs_own_watch_has_said_it(self):
        """It is in the results all the same."""
        with unittest.mock.patch.object(watch, "_said_early", {0}):
            self.run_steps(100)
        self.assertEqual((self.recorder.said, len(self.publisher.growth())), ([], 1))

    def test_silence_where_nothing_grows(self):
        self.run_steps(100, kept=0)
        self.assertEqual((self.recorder.said, self.publisher.growth()), ([], []))

    def test_growth_that_ends_is_taken_back(self):
        self.run_steps(60)
        self.assertEqual(len(self.publisher.growth()), 1)
        self.run_steps(600, kept=0, first=61)
        self.assertEqual(self.publisher.growth(), [])
        self.assertEqual(len(self.recorder.said), 1)

    def test_several_optimizers_are_one_step(self):
        for number in range(1, 101):
            step(self.recorder, self.publisher, number // 2 + 1)
        found, = self.publisher.growth()
        self.assertAlmostEqual(found["bytes_per_step"] / MIB, 128, delta=2)

    def test_short_steps_are_left_out_beyond_a_budget(self):
        looks = []
        read = self.recorder.torch._C._cuda_memoryStats

        def slow(device):
            looks.append(device)
            self.publisher._steps_cost += 10
            return read(device)

        self.publisher._figures._read = slow
        self.run_steps(2000, kept=0)
        self.assertTrue(50 <= len(looks) <= 200, len(looks))

    def test_no_line_where_lines_are_not_known(self):
        def fail(choice):
            raise TypeError("this release has a look of its own")

        self.recorder.torch._C._cuda_memorySnapshot = fail
        self.run_steps(100)
        self.assertRegex(self.recorder.said[0], r"since step \d+; full at")
        self.assertIsNone(self.publisher.growth()[0]["where"])


class TestLines(unittest.TestCase):
    def gained(self, before, after):
        """Of {place: bytes}."""
        blocks = [totals and {place: (count, place) for place, count in totals.items()}
                  for totals in (before, after)]
        return gained_most(*blocks)

    def test_the_line_that_gained_most(self):
        self.assertEqual(self.gained({"a": 5, "b": 9}, {"a": 50, "b": 10}), "a")
        self.assertIsNone(self.gained({}, {"a": 4, "b": 4, "c": 4}))  # none made half of it
        self.assertIsNone(self.gained({"a": 4}, {"a": 4}))
        self.assertIsNone(self.gained({}, {None: 4}))
        self.assertIsNone(self.gained(None, {"a": 4}))

    def test_the_object_that_holds_most_of_what_came(self):
        before = {0: (8, "a"), 8: (8, "a")}
        after = {0: (8, "a"), 8: (9, "a"), 20: (8, "a"), 40: (4, None)}
        holders = [{"id": 0, "blocks": [[0, 8, ""], [20, 8, ""], [8, 9, ""]]},
                   {"id": 1, "blocks": [[20, 8, ""], [40, 4, ""]]}]  # another holds one of them too
        found = holds_most(before, after, {"holders": holders})
        self.assertEqual(found["id"], 0)
        self.assertIsNone(holds_most(before, {**after, 60: (9, "a")}, {"holders": holders[1:]}))
        self.assertIsNone(holds_most(before, before, {"holders": holders}))
        moved = {0: (8, "a"), 90: (8, "a"), 20: (5, None)}  # a block went, and one as large came
        held = [{"id": 0, "blocks": [[90, 8, ""]]}, {"id": 1, "blocks": [[20, 5, ""]]}]
        self.assertEqual(holds_most(before, moved, {"holders": held})["id"], 1)
        self.assertIsNone(holds_most(None, after, {"holders": holders}))
        self.assertIsNone(holds_most(before, after, None))


class TestConditions(unittest.TestCase):
    def test_what_cannot_be_read_is_said(self):
        journal = Journal()
        found = stopping.read(["leak", "reserved>95%", "reserved>x%", "free>1%"], journal)
        self.assertEqual([condition.text for condition in found], ["leak", "reserved>95%"])
        self.assertEqual(len(journal.lines), 2)

    def test_a_share_of_what_may_be_reserved(self):
        condition = stopping.Condition("reserved>95%")
        self.assertTrue(condition.holds(types.SimpleNamespace(reserved=96), 100))
        self.assertFalse(condition.holds(types.SimpleNamespace(reserved=95), 100))
        self.assertFalse(stopping.Condition("leak").holds(types.SimpleNamespace(reserved=96), 100))


PROGRAM = """
import signal, sys, time
sys.path[:0] = sys.argv[1:3]
import test_live_watch
from test_live_watch import with_memory, step, publishers, GIB, stopping
stopping.GRACE_SECONDS = 0.5
publishers.STEPS_SECONDS = 1000
recorder = with_memory([sys.argv[3]])
publisher = publishers.Publisher(recorder, {"PLIMSOLL_LIVE": "off"})
publisher.begin()
if "ignore" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    numbers = iter(range(1, 100) if sys.argv[3] == "leak" else ())
    if sys.argv[3] != "leak":
        recorder.torch.allocate(79 * GIB)
    while True:
        try:
            for number in numbers:
                step(recorder, publisher, number)
            time.sleep(0.01)
        except KeyboardInterrupt:
            if "deaf" not in sys.argv:
                raise
finally:
    print(recorder.stopped_on, recorder.said[-1], flush=True)
"""


class TestStop(unittest.TestCase):
    def end_of(self, *words):
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, str(HERE), str(HERE.parents[1] / "src/agent"), *words],
            capture_output=True, text=True, timeout=30, check=False)

    def test_as_ctrl_c_would(self):
        for words in (("leak",), ("reserved>95%",), ("reserved>95%", "ignore")):
            with self.subTest(words=words):
                done = self.end_of(*words)
                self.assertIn(f"['{words[0]}'] ends the program (--stop-on={words[0]}): ",
                              done.stdout)
                self.assertTrue(done.stderr.endswith("KeyboardInterrupt\n"), done.stderr)
                self.assertNotIn("plimsoll_agent", done.stderr)

    def test_a_program_that_goes_on_is_terminated(self):
        self.assertEqual(self.end_of("leak", "deaf").returncode, -15)


if __name__ == "__main__":
    unittest.main()
