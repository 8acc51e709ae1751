#!/usr/bin/env python3
"""merge.py LIST FOLDER - one table of what the jobs of share.py found, in the order of LIST.

FOLDER/verdicts.csv has a row for each device of each file. Exit status 1: files of the list have no answer,
because a job of the array did not end; they are named, and the table has the others.
"""

import csv
import json
import pathlib
import sys
from collections import Counter

COLUMNS = ["path", "rank", "device", "verdict", "confidence", "peak_allocated_bytes",
           "peak_reserved_bytes", "error"]


def answers(folder):
    """Path → the line that share.py wrote of it."""
    found = {}
    for share in sorted(folder.glob("share-*.jsonl")):
        with open(share, encoding="utf-8") as lines:
            for line in lines:
                one = json.loads(line)
                found[one["path"]] = one
    return found


def main():
    files = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    folder = pathlib.Path(sys.argv[2])
    found = answers(folder)
    verdicts = Counter()
    with open(folder / "verdicts.csv", "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, COLUMNS, extrasaction="ignore")
        table.writeheader()
        for path in files:
            one = found.get(path, {"error": "no answer"})
            document = one.get("document", {"verdict": "unreadable", "devices": [{}]})
            verdicts[document["verdict"]] += path in found
            for device in document["devices"]:
                table.writerow({**device, "path": path, "error": one.get("error")})
    for verdict, count in verdicts.most_common():
        if count:
            print(f"{count:6} {verdict}")
    missing = [path for path in files if path not in found]
    for path in missing:
        print(f"no answer: {path}", file=sys.stderr)
    return 1 if missing else 0


sys.exit(main())
