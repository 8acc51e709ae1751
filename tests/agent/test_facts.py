#!/usr/bin/env python3
"""test_facts.py - what decides memory and what is switched on, each part without PyTorch."""

import os
import sys
import types
import unittest
from unittest import mock

AGENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
sys.path.insert(0, AGENT)

from plimsoll_agent import allocator  # noqa: E402
from plimsoll_agent.deciding import names_of  # noqa: E402
from plimsoll_agent.facts import Facts  # noqa: E402


def fake_core(settings, takes=1, backend="native"):
    """torch._C of a release whose snapshot takes so many arguments."""

    def snapshot(*pool):
        if len(pool) != takes:
            raise TypeError("takes another number of arguments")
        return {"allocator_settings": settings, "segments": [
            {"total_size": 20, "is_expandable": True, "segment_pool_id": (0, 0)},
            {"total_size": 4, "is_expandable": False, "segment_pool_id": (0, 1)},
        ]}

    return types.SimpleNamespace(_cuda_memorySnapshot=snapshot,
                                 _cuda_getAllocatorBackend=lambda: backend)


def allocator_with(settings, **release):
    found = allocator.Allocator(types.SimpleNamespace(_C=fake_core(settings, **release)))
    found.begin()
    return found


class AllocatorTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(os.environ)
        patch.start()
        self.addCleanup(patch.stop)
        for name in allocator.NAMES:
            os.environ.pop(name, None)

    def test_defaults(self):
        for takes in (0, 1):
            found = allocator_with({"expandable_segments": False, "max_split_size": -1,
                                    "garbage_collection_threshold": 0.0,
                                    "roundup_power2_divisions": {"1": 0, "2": 0}}, takes=takes)
            self.assertEqual(found.describe(), ("defaults", None))

    def test_settings_in_effect(self):
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True,max_split_size_mb:64"
        found = allocator_with({"expandable_segments": True, "max_split_size": 64 << 20,
                                "garbage_collection_threshold": 0.8,
                                "roundup_power2_divisions": {"1": 8, "2": 8}})
        self.assertEqual(found.describe(), (
            "expandable_segments:True,max_split_size_mb:64,garbage_collection_threshold:0.8,"
            "roundup_power2_divisions:8", None))

    def test_asked_for_and_ignored(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True, max_split_size_mb:64"
        found = allocator_with({"expandable_segments": False, "max_split_size": 64 << 20})
        self.assertEqual(found.describe(), ("max_split_size_mb:64", (
            "PYTORCH_ALLOC_CONF asks for expandable_segments:True, and the allocator does not "
            "have it.")))

    def test_asked_for_what_is_the_default(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:False,backend:native"
        found = allocator_with({"expandable_segments": False})
        self.assertEqual(found.describe(), ("defaults", None))

    def test_another_backend(self):
        os.environ["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync"
        found = allocator_with({}, backend="cudaMallocAsync")
        self.assertEqual(found.describe(), ("backend:cudaMallocAsync", None))

    def test_brackets(self):
        self.assertEqual(allocator.parse("a:[256:1,512:2],b:3, c : 4"),
                         {"a": "[256:1,512:2]", "b": "3", "c": "4"})

    def test_segments(self):
        found = allocator_with({})
        found.look()
        self.assertEqual((found.segments.reserved_bytes, found.segments.expandable_bytes,
                          found.segments.pool_bytes), (24, 20, 4))

    def test_a_release_that_says_nothing(self):
        found = allocator.Allocator(types.SimpleNamespace(
            _C=types.SimpleNamespace(_cuda_memorySnapshot=lambda pool: {})))
        found.begin()
        self.assertEqual(found.describe(), ("unknown", None))


class FactsTest(unittest.TestCase):
    def test_the_last_word_counts(self):
        facts = Facts()
        facts.add("decides", "compile", "off")
        facts.add("decides", "compile", "1 graph", evidence="It was.")
        self.assertEqual(facts.as_result(), [{"kind": "decides", "name": "compile",
                                              "value": "1 graph", "effect": None,
                                              "evidence": "It was."}])

    def test_names_by_share(self):
        self.assertEqual(names_of({}), "")
        self.assertEqual(names_of({"torch.float32": 4}), "float32")
        self.assertEqual(names_of({"torch.bfloat16": 96, "torch.float32": 4}),
                         "bfloat16 (96 %), float32")


if __name__ == "__main__":
    unittest.main(verbosity=2)
