#!/usr/bin/env python3
"""test_record.py - plimsoll.record(): a block's files, whose history it is, and what it refuses."""

import gzip
import json
import os
import pickle
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

from session import ROOT  # noqa: F401 - puts the packages into sys.path

import plimsoll
from plimsoll import _agent, _saying, errors

_agent.load()

from plimsoll_agent import history, holders  # noqa: E402


class Torch(types.ModuleType):
    """With a history that is recorded or not."""

    def __init__(self):
        super().__init__("torch")
        self.__version__ = "2.11.0"
        self._inductor = None
        self.is_used = True
        self.waiting = []
        self.limit = None  # of the history; None: nothing is recorded
        self.events = []
        self._C = types.SimpleNamespace(
            _cuda_memoryStats=None, _cuda_isHistoryEnabled=lambda: self.limit is not None,
            _cuda_record_memory_history=self._switch,
            _cuda_memorySnapshot=lambda choice: {"segments": [], "device_traces": []})
        self.cuda = types.SimpleNamespace(
            is_initialized=lambda: self.is_used, _lazy_call=self._lazy_call,
            memory=types.SimpleNamespace(_record_memory_history=self.record,
                                         _snapshot=self.snapshot))

    def _lazy_call(self, call):
        if self.is_used:
            call()
        else:
            self.waiting.append(call)

    def _switch(self, enabled, limit):
        self.limit = limit if enabled else None
        if not enabled:
            self.events = []

    def record(self, enabled="all", max_entries=99, **_words):
        self._C._cuda_record_memory_history(enabled, max_entries)

    def allocate(self, number):
        if self.limit is not None:
            self.events.append({"action": "alloc", "addr": number,
                                "time_us": time.time_ns() // 1000})
            del self.events[:-self.limit]

    def snapshot(self):
        return {"segments": [], "device_traces": [list(self.events)]}


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a blank ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "run.pickle")
        self.torch = Torch()
        self.said = []
        for patch in (mock.patch.dict(sys.modules, torch=self.torch),
                      mock.patch.object(holders, "find", self.find),
                      mock.patch.object(_saying, "say", self.said.append)):
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(history._begun.__setitem__, 0, 0)

    def find(self, torch, seconds, moment):
        return {"schema": "holders/1", "moment": moment}

    def events(self, path=None):
        read = gzip.open if (path or self.path).endswith(".gz") else open
        with read(path or self.path, "rb") as file:
            return [event["addr"] for event in pickle.load(file)["device_traces"][0]]

    def files(self):
        return sorted(os.listdir(self.folder))


class BlockTest(RecordTest):
    def test_the_events_of_a_block(self):
        self.torch.allocate(1)
        with plimsoll.record(self.path) as made:
            self.torch.allocate(2)
        self.torch.allocate(3)
        self.assertEqual((self.events(), made.path, made.warnings), ([2], self.path, []))
        with open(made.holders_path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], "holders/1")
        self.assertEqual(self.files(), ["run.holders.json", "run.pickle"])
        self.assertIsNone(self.torch.limit)
        self.assertEqual(self.torch._C._cuda_record_memory_history, self.torch._switch)

    def test_packed(self):
        with plimsoll.record(os.path.join(self.folder, "run.pickle.gz")) as made:
            self.torch.allocate(2)
        self.assertEqual(self.events(made.path), [2])
        self.assertEqual(self.files(), ["run.holders.json", "run.pickle.gz"])

    def test_written_whole_where_the_block_raises(self):
        with self.assertRaises(KeyError), plimsoll.record(self.path):
            self.torch.allocate(2)
            raise KeyError
        self.assertEqual(self.events(), [2])
        self.assertIsNone(self.torch.limit)

    def test_the_ring_keeps_the_last(self):
        with plimsoll.record(self.path, events=2) as made:
            for number in range(5):
                self.torch.allocate(number)
        self.assertEqual(self.events(), [3, 4])
        self.assertEqual(made.warnings, ["the ring of 2 events was full: the first ones are missing"])

    def test_cuda_may_come_within_the_block(self):
        self.torch.is_used = False
        with plimsoll.record(self.path):
            self.torch.is_used = True
            self.torch.waiting.pop()()
            self.torch.allocate(2)
        self.assertEqual(self.events(), [2])

    def test_without_cuda_there_is_no_file(self):
        self.torch.is_used = False
        with plimsoll.record(self.path) as made:
            pass
        self.assertEqual((self.files(), made.path, made.why), ([], None, "CUDA was not in use"))
        self.assertEqual(self.said, [f"{self.path} was not written: CUDA was not in use"])
        self.torch.is_used = True
        self.torch.waiting.pop()()  # CUDA comes later: it is not recorded
        self.assertIsNone(self.torch.limit)
        with self.assertRaisesRegex(errors.UsageError, "CUDA was not in use"):
            made.diagnose()

    def test_without_holders_none_are_left_from_before(self):
        with plimsoll.record(self.path):
            pass
        with plimsoll.record(self.path, holders=False) as made:
            pass
        self.assertEqual((self.files(), made.holders_path), (["run.pickle"], None))


class OthersTest(RecordTest):
    """Something records already."""

    def test_a_history_of_the_programs_goes_on(self):
        self.torch.record()
        self.torch.allocate(1)
        time.sleep(0.001)  # clocks count microseconds
        with plimsoll.record(self.path) as made:
            self.torch.allocate(2)
        self.torch.allocate(3)
        self.assertEqual(self.events(), [2])
        self.assertEqual(len(self.torch.events), 3)
        self.assertIn("something else recorded already", made.warnings[0])

    def test_one_that_the_program_begins_in_the_block_stays(self):
        with plimsoll.record(self.path) as made:
            self.torch.allocate(1)
            self.torch.record()
            self.torch.allocate(2)
        self.assertEqual((self.events(), self.torch.limit), ([2], 99))
        self.assertIn("the program began a recording", made.warnings[0])

    def test_blocks_lie_in_one_another(self):
        inner = os.path.join(self.folder, "inner.pickle")
        with plimsoll.record(self.path):
            self.torch.allocate(1)
            time.sleep(0.001)
            with plimsoll.record(inner):
                self.torch.allocate(2)
            self.torch.allocate(3)
        self.assertEqual((self.events(), self.events(inner)), ([1, 2, 3], [2]))
        self.assertIsNone(self.torch.limit)

    def test_a_recorder_that_is_armed_in_the_block_records_on(self):
        with plimsoll.record(self.path):
            recorder = history.History(self.torch, 100, None)
            recorder.begin()
        self.assertEqual(self.torch.limit, 100)
        self.assertFalse(recorder.is_programs())


class FailureTest(RecordTest):
    def test_what_it_refuses(self):
        for name, why in (("run.plim", r"run\.pickle or \.pickle\.gz"), ("run.pickle.zst", "pickle"),
                          ("missing/run.pickle", "there is no folder"), ("run", "pickle")):
            with self.subTest(name), self.assertRaisesRegex(errors.UsageError, why):
                plimsoll.record(os.path.join(self.folder, name))
        with self.assertRaisesRegex(errors.UsageError, "one event at least"):
            plimsoll.record(self.path, events=0)
        self.assertEqual(self.files(), [])

    def test_a_disk_that_is_full_is_not_the_programs_problem(self):
        full = OSError(28, "No space left on device")
        with mock.patch.object(pickle, "dump", side_effect=full), plimsoll.record(self.path) as made:
            self.torch.allocate(1)
        self.assertEqual(made.path, None)
        self.assertIn("No space left on device", self.said[0])
        self.assertEqual((self.files(), made.holders_path), ([], None))
        self.assertIsNone(self.torch.limit)

    def test_without_memory_for_the_history_the_state_is_written(self):
        with mock.patch.object(self.torch.cuda.memory, "_snapshot", side_effect=MemoryError):
            with plimsoll.record(self.path) as made:
                self.torch.allocate(1)
        self.assertEqual((made.path, made.warnings), (self.path, ["the history is missing: "
                                                                  "MemoryError: "]))

    def test_holders_may_fail(self):
        with mock.patch.object(holders, "find", side_effect=RuntimeError("no")):
            with plimsoll.record(self.path) as made:
                pass
        self.assertEqual((made.path, made.holders_path), (self.path, None))
        self.assertEqual(made.warnings, ["could not look for holders: RuntimeError: no"])


class SayingTest(unittest.TestCase):
    def test_quiet(self):
        with mock.patch.object(os, "write") as written:
            with mock.patch.dict(os.environ, PLIMSOLL_QUIET="1"):
                _saying.say("x")
            written.assert_not_called()
            _saying.say("x")
            written.assert_called_once_with(2, b"plimsoll: x\n")


if __name__ == "__main__":
    unittest.main()
