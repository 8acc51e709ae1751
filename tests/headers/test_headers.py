#!/usr/bin/env python3
"""test_headers.py ROOT CC [CXX] - every header compiles alone.

Public headers as C17 and as C++17, with only include/ to look in; internal ones as C17. The
compiler is run without code generation, so this takes a moment.
"""
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
cc = shlex.split(sys.argv[2])
cxx = shlex.split(sys.argv[3])
public, internal = ["-I", str(root / "include")], ["-I", str(root / "src")]
strict = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# Twice, so that a missing include guard shows.
in_c = [*cc, "-x", "c", "-std=c17", *strict, "-Wconversion", "-Wundef", "-Wstrict-prototypes"]
in_cxx = [*cxx, "-x", "c++", "-std=c++17", *strict]


def compiles(job):
    command, name = job
    source = f'#include "{name}"\n#include "{name}"\ntypedef int plim_not_empty;\n'
    done = subprocess.run([*command, "-"], input=source, text=True, capture_output=True, check=False)
    return "" if done.returncode == 0 else f"{name} as {command[2]}: {done.stderr}"


jobs = []
for header in sorted((root / "include").rglob("*.h")):
    name = str(header.relative_to(root / "include"))
    jobs += [([*in_c, *public], name), ([*in_cxx, *public], name)]
for header in sorted((root / "src").rglob("*.h")):
    name = str(header.relative_to(root / "src"))
    jobs.append(([*in_c, *public, *internal], name))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    errors = [text for text in pool.map(compiles, jobs) if text]
print("\n".join(errors), end="")
print(f"{len(jobs)} compilations, {len(errors)} failed")
sys.exit(1 if errors or not jobs else 0)
