#!/usr/bin/env python3
"""What `plimsoll run` costs a program, over the stand-ins, beside the same program without it.

    run.py --plimsoll PROGRAM [--quick] [--rounds N] [--only NAME]

Programs (program.py) run in turns as they are ("plain"), with PyTorch's own recorder as a user would
start it ("torch"), and under `plimsoll run` ("run"). Ratios and differences are of runs that
followed one another; "noise" is the same difference between two plain runs. Needs the Python in
PLIM_TORCH_PYTHON. Prints one JSON document, with the limits that hold.

    pair      ns for one torch.empty and its end (three events); "added_per_event_ns" is run - torch
    off       the same with --record=off beside plain
    start     seconds to the first tensor on the device; the limit is for processor time
    idle      processor milliseconds a second of a process that waits: the live page
    dump      at 100,000 events: seconds, and resident memory at its most above that before
    dump_all  at 1,000,000 events beside PyTorch's _dump_snapshot: ratios
    caught    ms that a failure which the program handles takes more
"""
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
from measuring import machine, median, options_parse, run, spread  # noqa: E402

PROGRAM = os.path.join(HERE, "program.py")
DEVICE = ("--gpu=h100", "--devices=1")
PARTS = ("pair", "start", "idle", "dump", "dump_all", "caught")
QUICK = ("pair", "dump_all", "caught")
RING = 100_000
ALL = 1_000_000
LIMITS = {"added_per_event_ns": 300, "start_seconds": 0.2, "idle_cpu_ms_per_second": 1.0,
          "dump_seconds": 2.0, "dump_grown_bytes": 300_000_000, "dump_all_ratio": 1.2,
          "caught_ms": 100.0, "caught_cpu_ms": 100.0}


class Bench:
    """
    scale   1, or less for a quick look that everything still runs
    device  options of the stand-ins; none: this machine's own GPU
    """

    def __init__(self, plimsoll, python, place, scale, device=DEVICE):
        self.plimsoll = plimsoll
        self.python = python
        self.place = place
        self.scale = scale
        self.device = device
        self._runs = 0

    def take(self, what, number, side, *options, recorder=0):
        """One program: side "plain" or "run"."""
        self._runs += 1
        path = os.path.join(self.place, f"{self._runs}.json")
        words = []
        if side == "run":
            words = [self.plimsoll, "run", "--quiet", *self.device, *options,
                     "--output", os.path.join(self.place, f"{self._runs}.run"), "--"]
        elif self.device:
            words = [self.plimsoll, "rehearse", "--json", "--no-retry", *self.device, "--"]
        run([*words, self.python, PROGRAM, what, path, str(number)],
            environment={"RUN_COST_RECORDER": str(recorder), "RUN_COST_BEGAN":
                         str(time.monotonic())})
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def pair(self, rounds):
        """The quiet blocks of each process; differences of neighbours."""
        blocks = 40 if self.scale == 1 else 2
        names = ("plain", "again", "torch", "run", "off") if self.scale == 1 else \
            ("plain", "torch", "run", "off")
        sides = {name: [] for name in names}
        for _ in range(rounds):
            for side, values in sides.items():
                taken = self.take(
                    "pairs", blocks, "run" if side in ("run", "off") else "plain",
                    *(["--record=off"] if side == "off" else []),
                    recorder=RING if side == "torch" else 0)
                values.append(sorted(taken["pair_ns"])[blocks // 4])

        def beyond(one, other):
            return spread([(a - b) / 3 for a, b in zip(sides[one], sides[other])])

        return {**{f"{side}_ns": spread(values) for side, values in sides.items()},
                "torch_adds_per_pair_ns": spread(
                    [a - b for a, b in zip(sides["torch"], sides["plain"])]),
                "added_per_event_ns": beyond("run", "torch"),
                "off_adds_per_event_ns": beyond("off", "plain"),
                "noise_per_event_ns": beyond("again" if "again" in sides else "plain", "plain")}

    def start(self, rounds):
        sides = [[self.take("start", 0, side) for side in ("plain", "run", "plain")]
                 for _ in range(rounds)]
        return {f"{name}{end}": spread([one[place][name] - one[0][name] for one in sides])
                for name in ("seconds", "cpu_seconds")
                for place, end in ((1, "_more"), (2, "_noise"))}

    def idle(self, rounds):
        seconds = 10 if self.scale == 1 else 1
        taken = [[self.take("idle", seconds, side)["cpu_ms_per_second"]
                  for side in ("plain", "run")] for _ in range(rounds)]
        return {"plain": spread([plain for plain, _ in taken]),
                "run": spread([run for _, run in taken]),
                "added": spread([run - plain for plain, run in taken])}

    def dump(self, rounds):
        events = int(RING * self.scale)
        taken = [self.take("dump", events, "run") for _ in range(rounds)]
        return {name: spread([one[name] for one in taken])
                for name in taken[0] if name != "live"}

    def dump_all(self, rounds):
        events = int(ALL * self.scale)
        taken = [(self.take("dump", events, "run", "--record=all"),
                  self.take("dump", events, "plain", recorder=2 * ALL)) for _ in range(rounds)]
        return {name: {"run": spread([one[name] for one, _ in taken]),
                       "torch": spread([other[name] for _, other in taken]),
                       "ratio": spread([one[name] / max(other[name], 1e-9)
                                        for one, other in taken])}
                for name in ("seconds", "cpu_seconds", "grown_bytes", "snapshot_bytes")}

    def caught(self, rounds):
        events = int(RING * self.scale)
        taken = [[self.take("caught", events, side) for side in ("plain", "run")]
                 for _ in range(rounds)]
        found = {}
        for name in ("caught_ms", "caught_cpu_ms"):
            pairs = [(plain[name], run[name]) for plain, run in taken]
            found[name] = {
                "first": spread([run[0] - plain[0] for plain, run in pairs]),
                "most": spread([max(run) - median(plain) for plain, run in pairs]),
                "after_three": spread([median(run[3:]) - median(plain[3:])
                                       for plain, run in pairs])}
        return found


def judge(found):
    """Each limit, the figure, and whether it holds: of medians."""
    figures = {}
    for name, part, path in (
            ("added_per_event_ns", "pair", ("added_per_event_ns",)),
            ("start_seconds", "start", ("cpu_seconds_more",)),
            ("idle_cpu_ms_per_second", "idle", ("added",)),
            ("dump_seconds", "dump", ("seconds",)),
            ("dump_grown_bytes", "dump", ("grown_bytes",)),
            ("dump_all_ratio", "dump_all", ("seconds", "ratio")),
            ("dump_all_memory_ratio", "dump_all", ("grown_bytes", "ratio")),
            ("caught_ms", "caught", ("caught_ms", "most")),
            ("caught_cpu_ms", "caught", ("caught_cpu_ms", "most"))):
        if part in found:
            value = found[part]
            for step in path:
                value = value[step]
            limit = LIMITS.get(name, LIMITS["dump_all_ratio"])
            figures[name] = {"value": value["median"], "limit": limit,
                             "holds": value["median"] <= limit}
    return figures


def main():
    options, is_quick, rounds = options_parse(sys.argv[1:], "--only")
    document = {"benchmark": "run_cost", "machine": machine(), "rounds": rounds}
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        document["skipped"] = "PLIM_TORCH_PYTHON names no Python with PyTorch"
        print(json.dumps(document), flush=True)
        return
    parts = [options["--only"]] if options["--only"] else QUICK if is_quick else PARTS
    with tempfile.TemporaryDirectory(prefix="run_cost.") as place:
        bench = Bench(options["--plimsoll"], python, place, 0.01 if is_quick else 1)
        found = {part: getattr(bench, part)(rounds) for part in parts}
    document.update(found)
    document["limits"] = judge(found)
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
