#!/usr/bin/env python3
"""Writes small synthetic snapshots of every schema and every kind of trouble, with what to expect.

    make_cases.py FOLDER    always the same files for the same version of this script

FOLDER/manifest.json lists the cases:
    file    its name in FOLDER
    kind    good      inspect must print the figures in `expected` (computed by inspect_oracle.py)
            refused   a pickle that would import or call: exit status 3; `names` and `offset` say
                      what the one line on stderr must contain
            corrupt   exit status 3
            robust    anything but a crash, a hang or much memory: exit status 0 or 3
    why     what the case is there for
    skip    figures that are not compared

Good cases that the simulator made are also checked, here, against what the simulator knows.
"""

import json
import os
import pickle
import sys

import bad_cases
import good_cases
from inspect_oracle import inspect


class Folder:
    def __init__(self, path):
        self.path = path
        self.cases = []
        os.makedirs(path, exist_ok=True)

    def add(self, file, data, kind, why, **more):
        with open(os.path.join(self.path, file), "wb") as out:
            out.write(data)
        self.cases.append({"file": file, "kind": kind, "why": why, **more})

    def good(self, file, data, snapshot, why, **more):
        """A case whose figures are those of `snapshot`, which is what `data` says."""
        figures, _ = inspect(snapshot)
        self.add(file, data, "good", why, expected=figures, **more)

    def good_pickle(self, name, snapshot, why, protocol=4, **more):
        self.good(name + ".pickle", pickle.dumps(snapshot, protocol), snapshot, why, **more)

    def good_json(self, name, snapshot, why, **more):
        self.good(name + ".json", json.dumps(snapshot).encode(), snapshot, why, **more)

    def write_manifest(self):
        with open(os.path.join(self.path, "manifest.json"), "w", encoding="ascii") as out:
            json.dump(self.cases, out)


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Folder(arguments[0])
    good_cases.add_all(folder)
    bad_cases.add_all(folder)
    folder.write_manifest()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
