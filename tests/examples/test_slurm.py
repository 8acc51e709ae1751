#!/usr/bin/env python3
"""test_slurm.py PLIMSOLL - the jobs of an array as Slurm starts them, and the merge of what they wrote."""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
SLURM = ROOT / "examples" / "slurm"
RECORDINGS = sorted((ROOT / "tests" / "data" / "recordings").glob("*.pickle*"))


class Array(unittest.TestCase):
    """A folder, with a blank in its name, from which an array of jobs is submitted."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("share.py", "merge.py"):
            shutil.copy(SLURM / name, self.folder)
        self.files = [str(path) for path in RECORDINGS]
        (self.folder / "broken.pickle").write_bytes(b"\x80\x04 not a pickle")
        self.files.insert(3, str(self.folder / "broken.pickle"))
        (self.folder / "my files.txt").write_text("\n".join(self.files) + "\n")

    def job(self, task, shares, array=None):
        """What slurmd does: a copy of the script elsewhere, and its variables."""
        spool = self.folder / "spool"
        spool.mkdir(exist_ok=True)
        shutil.copy(SLURM / "diagnose.sbatch", spool / "slurm_script")
        array = array or range(shares)
        environment = {
            **os.environ, "PLIMSOLL_COMMAND": PLIMSOLL, "PYTHONPATH": str(ROOT / "python"),
            "SLURM_SUBMIT_DIR": str(self.folder), "SLURM_JOB_ID": "4711", "SLURM_ARRAY_JOB_ID": "4711",
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": str(min(array)),
            "SLURM_ARRAY_TASK_MAX": str(max(array)), "SLURM_ARRAY_TASK_STEP": "1",
            "SLURM_ARRAY_TASK_COUNT": str(len(array)), "SLURM_CPUS_PER_TASK": "2"}
        return subprocess.run(
            ["bash", str(spool / "slurm_script"), "my files.txt", "my answers", str(shares)],
            env=environment, cwd=spool, check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def merge(self):
        return subprocess.run([sys.executable, "merge.py", "my files.txt", "my answers"],
                              cwd=self.folder, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def table(self):
        with open(self.folder / "my answers" / "verdicts.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_shares_are_all_files_once(self):
        said = [self.job(task, 3) for task in (2, 0, 1)]
        self.assertEqual([(one.returncode, one.stderr) for one in said], [(0, "")] * 3)
        self.assertRegex(said[1].stdout, "share 0: .* files, 1 of them unreadable")
        done = self.merge()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 unreadable", done.stdout)
        self.assertIn("1 exhausted", done.stdout)
        rows = self.table()
        self.assertEqual(list(dict.fromkeys(row["path"] for row in rows)), self.files)
        broken = rows[[row["path"] for row in rows].index(self.files[3])]
        self.assertTrue(broken["error"])
        self.assertEqual(sum("two_devices" in row["path"] for row in rows), 2)

    def test_a_job_that_did_not_end_is_named_by_its_files(self):
        self.job(0, 2)
        done = self.merge()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("no answer: "), len(self.files[1::2]))
        self.job(1, 2, array=[1])  # sbatch --array=1
        self.assertEqual(self.merge().returncode, 0)

    def test_a_job_beyond_the_shares_is_refused(self):
        done = self.job(3, 3)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "job 3 .* has no share")


unittest.main(argv=sys.argv[:1])
