#!/usr/bin/env python3
"""test_coverage.py STANDIN - nothing that PyTorch's wheels want is missing from the stand-ins.

Holds the functions that libplim_standin.so exports against the lists in wanted/, one for each
library: names that the wheels of PyTorch 2.11.0 (CUDA 13.0) and 2.15.0 (CUDA 13.2) leave undefined
or look up by name. Prints what is missing and fails.
"""
import pathlib
import subprocess
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)

listing = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], stdout=subprocess.PIPE,
                         universal_newlines=True, check=True).stdout
there = {line.split()[-1].split("@")[0] for line in listing.splitlines()}

lists = sorted((pathlib.Path(__file__).resolve().parent / "wanted").glob("*.txt"))
# Asked for by name, a function of the driver is answered by its newest form.
missing = [(path.stem, name) for path in lists
           for name in path.read_text().split() if not there & {name, f"{name}_v2"}]
for library, name in missing:
    print(f"{library} wants {name}, which is not stood in for")
if not lists:
    sys.exit("there are no lists of what is wanted")
sys.exit(1 if missing else 0)
