#!/usr/bin/env python3
"""run.py PLIMSOLL - exports, opened by the tools they are for: every check_*.py beside this, with totals.

Not part of `make test`: tools come from npm, PyPI and Debian. A check without its tools is skipped and says
why. Exit status 1: a check failed.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def main():
    ends = {"passed": 0, "failed": 0, "skipped": 0}
    for check in sorted(HERE.glob("check_*.py")):
        print(f"--- {check.stem[len('check_'):]}", flush=True)
        status = subprocess.run([sys.executable, str(check), sys.argv[1]], check=False).returncode
        ends["passed" if status == 0 else "skipped" if status == SKIPPED else "failed"] += 1
    print("--- " + ", ".join(f"{count} {end}" for end, count in ends.items()))
    return 1 if ends["failed"] else 0


sys.exit(main())
