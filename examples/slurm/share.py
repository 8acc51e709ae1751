#!/usr/bin/env python3
"""share.py LIST FOLDER SHARES - diagnoses this job's share of the files in LIST, for merge.py to gather.

Job 3 of a Slurm array of 10 takes files 3, 13, 23, … of the list, counted from 0. It writes
FOLDER/share-3.jsonl, one line a file, once all of them are done: a job that was cut off leaves no such
file, and is simply run again (sbatch --array=3), with the same number of shares.
"""

import json
import os
import pathlib
import sys

import plimsoll


def main():
    files = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    folder = pathlib.Path(sys.argv[2])
    number, shares = int(os.environ["SLURM_ARRAY_TASK_ID"]), int(sys.argv[3])
    if not 0 <= number < shares:
        sys.exit(f"share.py: job {number} of the array has no share: of {shares} the last is {shares - 1}")
    mine = files[number::shares]
    processes = int(os.environ.get("SLURM_CPUS_PER_TASK") or 0) or None
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".share-{number}.part"
    failed = 0
    with open(part, "w", encoding="utf-8") as out:
        for one in plimsoll.map(plimsoll.diagnose, mine, processes):
            failed += one.error is not None
            answer = {"error": str(one.error)} if one.error else {"document": one.get().to_dict()}
            out.write(json.dumps({"path": one.path, **answer}) + "\n")
    os.replace(part, folder / f"share-{number}.jsonl")
    print(f"share {number}: {len(mine)} files, {failed} of them unreadable")


main()
