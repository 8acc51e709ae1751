#!/usr/bin/env python3
"""test_arming.py - the recorder is armed once, before torch is imported or after."""

import os
import sys
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))

from plimsoll_agent import blackbox, history, importing, journal
from plimsoll_agent.blackbox import recorder


class ArmingTest(unittest.TestCase):
    def setUp(self):
        self.started = []
        real = recorder.start
        recorder.start = lambda torch, choice: self.started.append((torch, choice)) or "recorder"
        self.addCleanup(setattr, recorder, "start", real)
        self.addCleanup(blackbox._armed.clear)
        self.addCleanup(sys.modules.pop, "torch", None)

    def test_torch_that_is_there_is_recorded_at_once(self):
        sys.modules["torch"] = torch = types.ModuleType("torch")
        self.assertIsNone(blackbox.current())
        blackbox.start("/tmp/run")
        self.assertIs(self.started[0][0], torch)
        self.assertEqual(self.started[0][1].folder, "/tmp/run")
        self.assertEqual((blackbox.current(), blackbox.run_folder()), ("recorder", "/tmp/run"))

    def test_a_second_call_does_nothing(self):
        sys.modules["torch"] = types.ModuleType("torch")
        blackbox.start("/tmp/run")
        blackbox.start("/tmp/other")
        self.assertEqual((len(self.started), blackbox.run_folder()), (1, "/tmp/run"))

    def test_a_torch_that_is_being_imported_is_waited_for(self):
        sys.modules["torch"] = torch = types.ModuleType("torch")
        torch.__spec__ = types.SimpleNamespace(_initializing=True)
        before = list(sys.meta_path)
        self.addCleanup(sys.meta_path.__setitem__, slice(None), before)
        importing.when_imported("torch", lambda *_: self.started.append(_))
        self.assertEqual(self.started, [])
        self.assertEqual(len(sys.meta_path), len(before) + 1)


class RecordingTest(unittest.TestCase):
    """Histories that begin where one is recorded already."""

    def setUp(self):
        self.calls = []
        core = types.SimpleNamespace(_cuda_isHistoryEnabled=lambda: bool(self.calls))
        memory = types.SimpleNamespace(
            _record_memory_history=lambda **words: self.calls.append(words))
        self.torch = types.SimpleNamespace(
            _C=core, cuda=types.SimpleNamespace(memory=memory), __version__="2.11.0")
        self.addCleanup(history._begun.__setitem__, 0, 0)

    def begun(self):
        one = history.History(self.torch, 100, journal.Journal())
        one.begin()
        return one

    def test_what_the_program_records_stays_its_own(self):
        self.calls.append("the program's")
        self.assertTrue(self.begun().is_programs())
        self.assertEqual(self.calls, ["the program's"])

    def test_what_we_record_is_not_the_programs(self):
        self.assertFalse(self.begun().is_programs())
        self.assertFalse(self.begun().is_programs())
        self.assertEqual(len(self.calls), 2)


if __name__ == "__main__":
    unittest.main()
