#!/usr/bin/env python3
"""check_ray.py PLIMSOLL - plimsoll.map(on="ray") on a Ray cluster of this machine, and its frames.

Run by a Python that has Ray and pandas (tools/ray-python). Not part of `make test`.
"""

import os
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDINGS = os.path.join(ROOT, "tests", "data", "recordings")
PACKAGE = os.path.join(ROOT, "python")
os.environ["PLIMSOLL_COMMAND"] = PLIMSOLL
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# A node finds plimsoll as this process does.
os.environ["PYTHONPATH"] = os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])
sys.path.insert(0, PACKAGE)

import ray  # noqa: E402

import plimsoll  # noqa: E402
from plimsoll import errors  # noqa: E402

PATHS = sorted(os.path.join(RECORDINGS, name) for name in os.listdir(RECORDINGS)
               if ".pickle" in name)
MISSING = os.path.join(RECORDINGS, "no such file.pickle")


class OnRay(unittest.TestCase):
    def test_0_without_a_cluster_it_says_what_to_call(self):
        with self.assertRaisesRegex(errors.UsageError, r"ray\.init\(\)"):
            plimsoll.map(plimsoll.diagnose, PATHS, on="ray")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
                 _node_ip_address="127.0.0.1")

    def test_it_answers_as_local_cores_do(self):
        local = list(plimsoll.map(plimsoll.diagnose, PATHS))
        there = list(plimsoll.map(plimsoll.diagnose, PATHS, on="ray"))
        self.assertEqual([one.path for one in there], PATHS)
        self.assertEqual([one.get() for one in there], [one.get() for one in local])

    def test_an_unreadable_file_is_a_value(self):
        found = list(plimsoll.map(plimsoll.inspect, [PATHS[0], MISSING], on="ray"))
        self.assertIsNone(found[0].error)
        self.assertIsInstance(found[1].error, errors.InputError)
        self.assertEqual(found[1].error.file, MISSING)

    def test_a_lost_worker_costs_its_file_alone(self):
        def die_of(path):
            if path.endswith("dies"):
                os._exit(3)
            return os.path.basename(path)

        found = list(plimsoll.map(die_of, ["a", "dies", "b"], on="ray"))
        self.assertEqual([one.value for one in found], ["a", None, "b"])
        self.assertIsNotNone(found[1].error)

    def test_relative_paths(self):
        with tempfile.TemporaryDirectory(prefix="a b ") as folder:
            with open(os.path.join(folder, "x"), "w") as file:
                file.write("four")
            before = os.getcwd()
            os.chdir(folder)
            try:
                found = list(plimsoll.map(os.path.getsize, ["x"], on="ray"))
            finally:
                os.chdir(before)
            self.assertEqual([(one.path, one.value) for one in found], [("x", 4)])

    def test_a_thousand_files_go_through_a_small_window(self):
        read = []
        paths = (read.append(number) or str(number) for number in range(1000))
        found = plimsoll.map(os.path.basename, paths, 8, on="ray")
        for taken, _one in enumerate(found):
            self.assertLessEqual(len(read), taken + 16)
        self.assertEqual(taken, 999)

    def test_frames(self):
        frame = plimsoll.map(plimsoll.inspect, [*PATHS, MISSING], on="ray").to_frame("devices")
        self.assertEqual(frame["error"].notna().sum(), 1)
        self.assertEqual(int(frame["peak.reserved_bytes"].max()), max(
            row["peak.reserved_bytes"] for path in PATHS
            for row in plimsoll.inspect(path).to_rows("devices")))
        summary = plimsoll.map(plimsoll.diagnose, PATHS).to_frame()
        self.assertEqual(list(summary["path"]), PATHS)
        self.assertIn("exhausted", set(summary["verdict"]))

    def test_z_closing_ends_what_is_under_way(self):
        def wait(path):
            import time

            time.sleep(0 if path.endswith("/0") else 3600)
            return path[-1]

        with plimsoll.map(wait, ["0", "1"], on="ray") as found:
            self.assertEqual(next(found).value, "0")
        # The cores are free again for others.
        self.assertEqual([one.value for one in plimsoll.map(wait, ["0"], on="ray")], ["0"])
        ray.shutdown()


unittest.main(argv=sys.argv[:1])
