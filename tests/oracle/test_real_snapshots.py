#!/usr/bin/env python3
"""Compares `plimsoll inspect --json` with the oracle on recordings of real programs.

    test_real_snapshots.py PLIMSOLL [FOLDER…]

Always reads tests/data/recordings. $PLIM_SNAPSHOT_DIR may name a folder with more. Exit status 77
means that there was nothing to compare.
"""

import os
import sys

from inspect_oracle import compare_files

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(HERE, os.pardir, "data", "recordings")
SUFFIXES = (".pickle", ".pkl", ".pickle.gz", ".pickle.zst", ".snapshot.json", ".snapshot.json.gz")
SKIPPED = 77


def snapshots_under(folder):
    return sorted(
        os.path.join(parent, name)
        for parent, _, names in os.walk(folder)
        for name in names
        if name.endswith(SUFFIXES)
    )


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    plimsoll, folders = arguments[0], [os.path.normpath(RECORDINGS)] + arguments[1:]
    more = os.environ.get("PLIM_SNAPSHOT_DIR")
    if more:
        folders.append(more)
    else:
        print("PLIM_SNAPSHOT_DIR is not set: no snapshots but our own")
    paths = []
    for folder in folders:
        found = snapshots_under(folder)
        print(f"{folder}: {len(found)} snapshots" if os.path.isdir(folder) else f"{folder}: absent")
        paths += found
    return compare_files(plimsoll, paths) if paths else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
