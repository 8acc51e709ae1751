"""test_save.py SAVE_TOOL PLIMSOLL - what `plimsoll inspect --json` says of a snapshot it says
of the recording made of it too: peaks, composition, end state, settings, what it doubts.

Differences that must be, and are taken out before comparing: which file it is ("file", "format",
"compression", "generation", "pickle_protocol", "bytes"), and the anomalies that importing a
snapshot finds in its records, which no history keeps (PICKLE_ONLY).

$PLIM_SNAPSHOT_DIR may name a folder with more snapshots.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SAVE_TOOL, PLIMSOLL = sys.argv[1:3]
RECORDINGS = pathlib.Path("tests/data/recordings")
OF_THE_FILE = ("file", "format", "compression", "generation", "pickle_protocol", "bytes")
PICKLE_ONLY = {"unknown_field", "bad_field", "missing_field"}


def inspected(path):
    """What inspect says of a file, without what is about the file."""
    result = subprocess.run([PLIMSOLL, "inspect", "--json", path], stdout=subprocess.PIPE,
                            check=True)
    (document,) = json.loads(result.stdout)["files"]
    for name in OF_THE_FILE:
        document.pop(name)
    document["anomalies"] = {name: times for name, times in document["anomalies"].items()
                             if name not in PICKLE_ONLY}
    return document


def differences(left, right, where=""):
    """Where two documents differ, as lines."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            yield from differences(left.get(key), right.get(key), f"{where}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right)):
            yield from differences(one, other, f"{where}[{index}]")
    elif left != right:
        yield f"{where}: {json.dumps(left)[:200]}, then {json.dumps(right)[:200]}"


class Save(unittest.TestCase):
    """Snapshots and what they become."""

    def check(self, path):
        """Compares what is said of one snapshot."""
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.plim")
            subprocess.run([SAVE_TOOL, path, saved, "3"], stdout=subprocess.DEVNULL, check=True)
            self.assertEqual(list(differences(inspected(path), inspected(saved))), [])

    def check_folder(self, folder):
        """Compares all snapshots of a folder; how many there were."""
        paths = sorted(path for path in folder.iterdir() if ".pickle" in path.name)
        for path in paths:
            with self.subTest(path=path.name):
                self.check(path)
        return len(paths)

    def test_our_recordings(self):
        """Those that are in the repository."""
        self.assertGreaterEqual(self.check_folder(RECORDINGS), 12)

    def test_snapshots_of_others(self):
        """Those that are somewhere else."""
        folder = os.environ.get("PLIM_SNAPSHOT_DIR")
        if not folder:
            self.skipTest("PLIM_SNAPSHOT_DIR is not set")
        self.check_folder(pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
