#!/usr/bin/env python3
"""test_inspect.py PLIMSOLL - inspect and replay say the same of the same recording.

Where a replay under the recording's own settings repeats every driver call and placement, its
allocator held exactly the blocks that the recorded one did. What inspect works out without an
allocator must then be that figure, or be called an estimate that is off by no more than it says.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

PLIMSOLL = sys.argv.pop(1)
FILES = [*sorted(pathlib.Path("tests/data/recordings").glob("*.pickle*")),
         *sorted(pathlib.Path("tests/data/rehearsals").glob("*.pickle*")),
         *sorted(pathlib.Path("../shared/data/snapshots").glob("*.pickle"))]


def document(*words):
    done = subprocess.run([PLIMSOLL, *map(str, words)], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"},
                          timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else None


def exact_replays(path):
    """By device: the recorded run, where it is repeated call by call to its end."""
    said = document("replay", "--quick", "--json", path)
    if said is None:
        return {}
    exact = {one["device"] for one in said["fidelity"]["devices"] if one["share"] == 1}
    return {run["device"]: run for run in said["by_device"]
            if run["device"] in exact and run["failed_event"] is None}


class Allocated(unittest.TestCase):
    def test_the_highest_is_that_of_the_replay(self):
        devices = 0
        estimates = 0
        for path in FILES:
            runs = exact_replays(path)
            inspected = document("inspect", "--json", path) if runs else {"files": []}
            for device in (one for file in inspected["files"] for one in file["devices"]):
                run = runs.get(device["device"])
                if run is None:
                    continue
                highest = max(part["allocated_bytes_max"] for part in device["timeline"])
                slack = device["peak"]["allocated_slack_bytes"]
                with self.subTest(file=path.name, device=device["device"]):
                    self.assertLessEqual(abs(highest - run["peak_allocated_bytes"]), slack)
                devices += 1
                estimates += slack > 0
        print(f"{devices} devices, {estimates} with an estimate", file=sys.stderr)
        self.assertGreater(devices, 10)
        self.assertLessEqual(estimates * 10, devices)


if __name__ == "__main__":
    unittest.main()
