#!/usr/bin/env python3
"""test_snapshot.py TOOL PLIMSOLL - the allocator's snapshots against its statistics.

The tool (snapshot_tool.c) works with the allocator and writes its snapshot. Then

    plimsoll inspect      agrees with the statistics to the byte, and has nothing to complain of
    the same run again    gives the same bytes, but for the times
    _memory_viz.py        of PyTorch prints its summaries of it: where it is at hand, as
                          PLIM_MEMORY_VIZ or where tools/torch-python puts it
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "torch"))
from memory_viz import find_memory_viz

PLIMSOLL = sys.argv.pop(2)
TOOL = sys.argv.pop(1)
SETTINGS = [
    "",
    "expandable_segments:True",
    "max_split_size_mb:24",
    "roundup_power2_divisions:8,garbage_collection_threshold:0.7",
    "expandable_segments:True,large_segment_size_mb:32",
]


def run(settings, seed, path):
    """What the allocator counted on its devices; its snapshot is at `path` then."""
    done = subprocess.run([TOOL, settings, str(seed), str(path)], check=True, capture_output=True)
    return json.loads(done.stdout)


def inspect(path):
    done = subprocess.run([PLIMSOLL, "inspect", "--json", str(path)], check=True,
                          capture_output=True)
    return json.loads(done.stdout)["files"][0]


class Snapshots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "snapshot.pickle"

    def test_inspect_agrees_with_the_statistics(self):
        for settings in SETTINGS:
            for seed in (1, 2):
                with self.subTest(settings=settings, seed=seed):
                    counted = run(settings, seed, self.path)
                    seen = inspect(self.path)
                    # The program goes on after failures; nothing else may be odd.
                    self.assertLessEqual(set(seen["anomalies"]), {"events_after_oom"})
                    for stats, device in zip(counted, seen["devices"], strict=True):
                        self.compare(stats, device["end"], "expandable" in settings)

    def compare(self, stats, end, is_expandable):
        for ours, theirs in [("allocated_bytes", "allocated_bytes"),
                             ("active_bytes", "active_bytes"),
                             ("reserved_bytes", "reserved_bytes")]:
            self.assertEqual(stats[f"{ours}.all.current"], end[theirs], ours)
        self.assertEqual(stats["active_bytes.all.current"] - stats["allocated_bytes.all.current"],
                         end["pending_free_bytes"])
        self.assertGreater(end["pending_free_bytes"], 0)  # or the test looks at less than it says
        if not is_expandable:  # PyTorch's statistic leaves those out
            self.assertEqual(stats["inactive_split_bytes.all.current"],
                             end["inactive_split_bytes"])
            self.assertEqual(stats["segment.all.current"], end["segments"])

    def test_sums_in_the_pickle_agree_too(self):
        for settings in SETTINGS:
            with self.subTest(settings=settings):
                counted = run(settings, 3, self.path)
                snapshot = pickle.loads(self.path.read_bytes())
                for index, stats in enumerate(counted):
                    mine = [s for s in snapshot["segments"] if s["device"] == index]
                    for key, name in [("total_size", "reserved_bytes"),
                                      ("allocated_size", "allocated_bytes"),
                                      ("active_size", "active_bytes"),
                                      ("requested_size", "requested_bytes")]:
                        self.assertEqual(stats[f"{name}.all.current"], sum(s[key] for s in mine),
                                         (settings, key))

    def test_the_same_run_gives_the_same_snapshot(self):
        def without_times(path):
            snapshot = pickle.loads(path.read_bytes())
            for trace in snapshot["device_traces"]:
                for event in trace:
                    event.pop("time_us")
            return snapshot

        run("", 4, self.path)
        first = without_times(self.path)
        run("", 4, self.path)
        self.assertEqual(first, without_times(self.path))

    def test_stacks_name_the_program(self):
        run("", 5, self.path)
        snapshot = pickle.loads(self.path.read_bytes())
        names = {frame["name"] for trace in snapshot["device_traces"] for event in trace
                 for frame in event.get("frames", [])}
        self.assertIn("main", names)
        self.assertFalse([name for name in names if name.startswith("plim_")], names)

    def test_pytorch_reads_it(self):
        path = find_memory_viz()
        if path is None or not path.exists():
            self.skipTest("PyTorch's _memory_viz.py is not here: name it as PLIM_MEMORY_VIZ")
        spec = importlib.util.spec_from_file_location("_memory_viz", path)
        viz = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(viz)
        for settings in SETTINGS:
            run(settings, 6, self.path)
            snapshot = pickle.loads(self.path.read_bytes())
            with contextlib.redirect_stdout(io.StringIO()):
                summary = viz.segsum(snapshot)
                trace = viz.trace(snapshot)
            self.assertIn("total_reserved", summary)
            self.assertGreater(len(trace), 1000)
            viz.segment_plot(snapshot)
            viz.trace_plot(snapshot)


if __name__ == "__main__":
    unittest.main()
