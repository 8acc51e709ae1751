"""Two allocators measured in turns: Plimsoll's, and PyTorch's own where its library is at hand.

A side is a program that measures one thing and prints it (measures.h). PyTorch's is compiled here
from torch/ against the headers and libraries of the wheel; nothing else depends on it.
"""
import glob
import json
import math
import os
import shutil
import sys

PLACE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(PLACE, os.pardir))
from measuring import median, run  # noqa: E402

TORCH = "2.11.0"
VARIABLES = ("PLIMSOLL_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF",
             "PYTORCH_ALLOC_CONF")


def cached_wheels():
    """Folders named torch that tests/oracle and tools/record may have left behind."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for name in ("oracle", "record"):
        place = os.path.join(cache, "plimsoll", name)
        for depth in ("", "*/", "*/*/", "*/venv/lib/*/site-packages/"):
            yield from sorted(glob.glob(os.path.join(place, depth + "torch")))


def is_release(folder):
    """Whether a folder named torch is of the release we compare with, as far as it says."""
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            return f"'{TORCH}" in file.read()
    except FileNotFoundError:
        return True


def find_torch():
    """The folders of libc10_cuda.so and of its headers, or why there are none."""
    pairs = [(os.path.join(folder, "lib"), os.path.join(folder, "include"))
             for folder in cached_wheels() if is_release(folder)]
    given = os.environ.get("PLIM_TORCH_LIB"), os.environ.get("PLIM_TORCH_INCLUDE")
    if all(given):
        pairs = [given]
    for lib, include in pairs:
        if (os.path.exists(os.path.join(lib, "libc10_cuda.so"))
                and os.path.exists(os.path.join(include, "c10/cuda/CUDACachingAllocator.h"))):
            return (lib, include), None
    return None, f"no libc10_cuda.so of PyTorch {TORCH} with its headers: set PLIM_TORCH_LIB " \
                 "and PLIM_TORCH_INCLUDE"


def build_torch(directory):
    """PyTorch's side as a program in `directory`, or None and why not."""
    found, reason = find_torch()
    if found is None:
        return None, reason
    if not (shutil.which("cc") and shutil.which("c++")):
        return None, "no C++ compiler"
    lib, include = found
    source = os.path.join(PLACE, "torch")
    runtime = os.path.join(directory, "libcudart.so.13")
    program = os.path.join(directory, "torch_side")
    run(["cc", "-std=c17", "-O2", "-fPIC", "-shared", "-Wl,-soname,libcudart.so.13",
         f"-Wl,--version-script={source}/cudart.map", "-o", runtime, f"{source}/cudart.c"])
    run(["c++", "-std=c++17", "-O2", "-D_GNU_SOURCE", f"-I{source}/include", "-isystem", include,
         "-o", program, f"{source}/fastpath.cpp", runtime, f"-L{lib}", "-lc10_cuda", "-lc10",
         f"-Wl,-rpath,{lib}:{directory}", "-pthread"])
    return program, None


class Case:
    """One measurement: words for the programs, settings, and which of its figures counts."""

    def __init__(self, *words, settings=None, figure="ns_min", only_ours=False):
        self.words = [str(word) for word in words]
        self.environment = {"PYTORCH_CUDA_ALLOC_CONF": settings} if settings else {}
        self.figure = figure
        self.only_ours = only_ours
        self.ours, self.theirs = [], []

    def take_turn(self, plimsoll, torch, is_ours_first):
        for is_ours in (is_ours_first, not is_ours_first):
            program, taken = (plimsoll, self.ours) if is_ours else (torch, self.theirs)
            if program is not None and (is_ours or not self.only_ours):
                output, _ = run([program, *self.words], environment=self.environment)
                taken.append(json.loads(output))

    def figures(self, taken):
        return [one[self.figure] for one in taken]

    def result(self):
        """The best round of each side (of medians: the median); the ratio is taken within a round,
        and the median of the rounds."""
        choose = median if self.figure == "ns_median" else min
        found = {"plimsoll": round(choose(self.figures(self.ours)), 1)}
        if self.theirs:
            found["torch"] = round(choose(self.figures(self.theirs)), 1)
            found["ratio"] = round(median([theirs / ours for ours, theirs in zip(
                self.figures(self.ours), self.figures(self.theirs))]), 2)
        calls = sum(one.get("driver_calls", 0) for one in self.ours + self.theirs)
        if calls:
            found["driver_calls"] = calls  # not everything came from the cache
        return found


def take_rounds(cases, plimsoll, torch, rounds):
    for variable in VARIABLES:
        os.environ.pop(variable, None)
    for index in range(rounds):
        for case in cases:
            case.take_turn(plimsoll, torch, index % 2 == 1)


def summary(results):
    """The least and the geometric mean of some ratios; nothing where none was taken."""
    ratios = [result["ratio"] for result in results if "ratio" in result]
    if not ratios:
        return {}
    return {"ratio_least": min(ratios),
            "ratio_mean": round(math.exp(sum(map(math.log, ratios)) / len(ratios)), 2)}


def options_parse(document, words, quick):
    """The options of a benchmark: --plimsoll-side PROGRAM, --rounds N, --quick."""
    options = {"plimsoll_side": None, "rounds": "5", "directory": None, "is_quick": False}
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--quick":
            options |= quick | {"is_quick": True}
        elif word in ("--plimsoll-side", "--rounds", "--directory") and words:
            options[word[2:].replace("-", "_")] = words.pop(0)
        else:
            print(document, file=sys.stderr)
            sys.exit(2)
    if options["plimsoll_side"] is None:
        print(document, file=sys.stderr)
        sys.exit(2)
    return options
