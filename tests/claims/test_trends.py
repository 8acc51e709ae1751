#!/usr/bin/env python3
"""test_trends.py PLIMSOLL - every sentence of a trend page follows from the points of its series.

Logs are made up (levels, noise, leaks from the start and later ones, ramps, stairs, sawtooths; one
rank or many, bytes or per cent, with a capacity or without), and the samples of tests/data/messages
are read too. Of each series the points are known here, and its claims are derived again from them:

    level      first, last, lowest, highest
    grows by   the slope of the points since growth began, and its interval
    stairs     their number, height and distance
    since      nothing grew before; settled: nothing grows after
    full at    where the line meets the capacity
    heading    no other series is worse

Then the sentences of the page are held against the figures of the document. PLIM_SEED=<n> draws
other logs.
"""

import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

PLIMSOLL = sys.argv[1]
MESSAGES = pathlib.Path("tests/data/messages")
SEEDS = [int(seed) for seed in os.environ.get("PLIM_SEED", "12 33 35").split()]
LOGS = 36
MIB = 1 << 20
UNITS = {"": 0, "B": 0, "KiB": 10, "MB": 20, "MiB": 20, "GB": 30, "GiB": 30}
WORST_LAST = ["too_short", "flat", "ramp", "staircase", "leak"]
WORDS = {
    "too_short": "too few points to say",
    "flat": "does not grow",
    "ramp": "grew at first and has settled",
    "staircase": "grows in stairs",
    "leak": "grows for ever",
}

failures = []


def check(truth, claim, what):
    if not truth:
        failures.append(f"{what}: {claim}")


# ---- logs that are made up ------------------------------------------------------------------------


def shape(draw, kind, count):
    """MiB by step, without noise, and what is to be said of it."""
    base = draw.uniform(4000, 60000)
    rise = base * draw.uniform(0.1, 0.6)
    onset = draw.randrange(count // 3, count // 2)
    stair = draw.randrange(count // 12, count // 6)
    tooth = draw.randrange(7, 13)
    return {
        "flat": lambda i: base,
        "leak": lambda i: base + rise * i / count,
        "late leak": lambda i: base + rise * max(0, i - onset) / (count - onset),
        "ramp": lambda i: base + rise * min(1, i / (count * 0.2)),
        "stairs": lambda i: base + rise * (i // stair) / 6,
        "saw": lambda i: base + rise * (i % tooth) / tooth,
        "falling": lambda i: base + rise * (1 - i / count),
    }[kind]


def make_log(draw, kinds, noise, style):
    """Lines, and the points (step, bytes or per cent) by the name that each series will have."""
    count = draw.randrange(120, 400)
    stride = draw.choice([1, 1, 10])
    makers = [shape(draw, kind, count) for kind in kinds]
    lines = []
    points = {}
    for i in range(count):
        for rank, maker in enumerate(makers):
            value = maker(i) * (1 + draw.gauss(0, noise))
            step = i * stride
            if style == "rank":
                lines.append(f"[rank{rank}]: step {step} | loss 2.31 | memory allocated: {value:.2f} MB")
                name, unit = f"memory allocated [rank {rank}]", MIB
                printed = f"{value:.2f}"
            elif style == "gpu":
                printed = f"{value / 1024:.4f}"
                lines.append(f"iteration {step} gpu mem {printed} GiB on gpu {rank}")
                name, unit = f"gpu mem [gpu {rank}]", 1024 * MIB
            elif style == "total":
                printed = f"{value:.0f}"
                lines.append(f"step {step} gpu mem {printed} / 200000 MB (gpu {rank})")
                name, unit = f"gpu mem [gpu {rank}]", MIB
            else:
                printed = f"{value / 1500:.3f}"
                lines.append(f'{{"step": {step}, "system.gpu.{rank}.memoryAllocated": {printed}}}')
                name, unit = f"memoryAllocated [gpu {rank}]", 1
            points.setdefault(name, []).append((step, float(printed) * unit))
    return lines, points


# ---- what follows from points ---------------------------------------------------------------------


def slope(points):
    """The median of slopes (Theil and Sen) of means, some hundred at most: teeth average out."""
    size = max(1, len(points) // 30) if len(points) > 60 else 1
    groups = [points[i : i + size] for i in range(0, len(points) - size + 1, size)]
    some = [tuple(statistics.fmean(column) for column in zip(*group)) for group in groups]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(some) for b in some[i + 1 :]
              if b[0] > a[0]]
    return statistics.median(slopes) if slopes else 0.0


def lift(points):
    """The smaller of the slopes of floor and ceiling: both rise with what grows, and neither with sawtooths."""
    size = max(13, len(points) // 30)
    groups = [points[i : i + size] for i in range(0, len(points) - size + 1, size)]
    return min(slope([(group[0][0], pick(value for _, value in group)) for group in groups])
               for pick in (min, max))


def spread(points):
    """How far points lie from the line through their neighbours, as a standard deviation."""
    away = [abs(b[1] - (a[1] + c[1]) / 2) for a, b, c in zip(points, points[1:], points[2:])]
    return 1.4826 * statistics.median(away) * math.sqrt(2 / 3) if away else 0.0


def derive(series, points, what):
    """Check the members of one series against its points."""
    kind = "percent" if "max_percent" in series else "bytes"
    values = [value for _, value in points]
    steps = [step for step, _ in points]
    first, last = series[f"first_{kind}"], series[f"last_{kind}"]
    low, high = series[f"min_{kind}"], series[f"max_{kind}"]
    growth = series[f"growth_{kind}_per_step"]
    close = 1 if kind == "bytes" else 1e-9
    noise = spread(points)
    run = steps[-1] - steps[0]
    rise = growth * run
    check(series["seen"] == len(points), f"{series['seen']} points, not {len(points)}", what)
    check(abs(low - min(values)) <= close, f"lowest {low}, not {min(values)}", what)
    check(abs(high - max(values)) <= close, f"highest {high}, not {max(values)}", what)
    check((series["first_step"], series["last_step"]) == (steps[0], steps[-1]), "steps", what)
    check(low - close <= first <= high + close, f"first level {first:.6g} is not in {low:.6g} to {high:.6g}", what)
    check(low - close <= last <= high + close, f"last level {last:.6g} is not in {low:.6g} to {high:.6g}", what)
    if series["class"] in ("flat", "ramp", "too_short"):
        check(growth == 0 and series["exhaustion_step"] is None, "grows and does not", what)
    if series["class"] == "flat":
        true = lift(points) * run
        check(true <= max(0.02 * high, 5 * noise), f"does not grow, by {true:.3g} of {high:.3g}", what)
    if series["class"] == "ramp":
        onset = series["onset_step"]
        after = [point for point in points if point[0] >= onset]
        check(steps[0] < onset <= steps[-1], f"settled at {onset}", what)
        check(last > first, "grew at first, and did not", what)
        more = slope(after) * (steps[-1] - onset)
        check(more <= max(0.2 * (last - first), 3 * noise), f"settled, and rose by {more:.3g}", what)
    if series["class"] in ("leak", "staircase"):
        check(series[f"growth_low_{kind}_per_step"] <= growth
              <= series[f"growth_high_{kind}_per_step"], "growth outside of its interval", what)
        check(growth > 0 and last > first, "grows, and does not", what)
    if series["class"] == "leak" and series["confidence"] >= 0.6:  # below, the page says "a guess"
        onset = series["onset_step"]
        after = [point for point in points if point[0] >= onset]
        true = slope(after)
        half = (series[f"growth_high_{kind}_per_step"] - series[f"growth_low_{kind}_per_step"]) / 2
        check(abs(true - growth) <= max(0.15 * growth, 1.5 * half), f"grows by {growth:.4g}, not {true:.4g}", what)
        before = [point for point in points if point[0] < onset]
        if len(before) > 20:
            earlier = slope(before) * (onset - steps[0])
            check(earlier <= max(0.25 * rise, 4 * noise), f"since {onset}, {earlier:.3g} before", what)
    if series["class"] == "staircase":
        height = series[f"stair_{kind}"] * series["stair_count"]
        check(abs(height - (last - first)) <= 0.35 * (last - first),
              f"{series['stair_count']} stairs of {series[f'stair_{kind}']:.3g} make no "
              f"{last - first:.3g}", what)
        check(0 < series["stair_period_steps"] <= run, "period of stairs", what)
    derive_end(series, kind, values, what)


def derive_end(series, kind, values, what):
    capacity = 100 if kind == "percent" else series["capacity_bytes"]
    end = series["exhaustion_step"]
    growth = series[f"growth_{kind}_per_step"]
    last = series[f"last_{kind}"]
    if end is None:
        grows = series["class"] in ("leak", "staircase")
        check(not (grows and capacity is not None), "grows to a capacity, and no end is told", what)
        return
    check(capacity is not None, "an end without a capacity", what)
    there = last + growth * (end - series["last_step"])
    peaks = max(values) - min(series[f"first_{kind}"], min(values))
    if end > series["last_step"]:
        check(there <= capacity * 1.0001, f"full at {end}: {there:.4g} of {capacity:.4g}", what)
        check(there >= capacity - peaks, f"full at {end}, but {there:.4g} of {capacity:.4g}", what)
    else:
        check(max(values) >= 0.95 * capacity, "full about now, and is not", what)


# ---- sentences ------------------------------------------------------------------------------------


def parse_amount(text):
    """The number, and half a unit of its last digit."""
    number, unit = re.fullmatch(r"(-?[\d.,]+)\s*([KMGT]iB|B|%)", text).groups()
    number = number.replace(",", "")
    factor = {"B": 1, "%": 1}.get(unit) or 1 << (10 * "KMGT".index(unit[0]) + 10)
    decimals = len(number.partition(".")[2])
    digit = 10.0 ** -decimals
    if unit == "%":  # three digits, without zeros behind the point
        digit = 10.0 ** (math.floor(math.log10(abs(float(number)) or 1)) - 2)
    return float(number) * factor, 0.51 * factor * digit + 0.5


def hold(text, figure, what):
    value, slack = parse_amount(text)
    check(abs(value - figure) <= slack, f"the page says {text}, the document {figure}", what)


AMOUNT = r"(-?[\d.,]+ ?(?:[KMGT]iB|B|%))"


def read_page(page, series, what):
    """The sentences of one series on the page, against its members."""
    kind = "percent" if "max_percent" in series else "bytes"
    check(page.startswith(f"{series['name']} {WORDS[series['class']]}\n"), "heading", what)
    grows = re.search(rf"grows by\s+{AMOUNT} per (\w+)", page)
    check((grows is not None) == (series["class"] in ("leak", "staircase")), "says it grows", what)
    if grows:
        hold(grows.group(1), series[f"growth_{kind}_per_step"], what)
        check(grows.group(2) == (series["step_name"] or "point"), "the name of steps", what)
    stairs = re.search(rf"stairs\s+([\d,]+) stairs?, of {AMOUNT} each, every ([\d.,]+) ", page)
    if stairs:
        check(int(stairs.group(1).replace(",", "")) == series["stair_count"], "count of stairs", what)
        hold(stairs.group(2), series[f"stair_{kind}"], what)
    level = re.search(rf"level\s+{AMOUNT} at first, {AMOUNT} at last;\s+lowest\s+{AMOUNT},\s+highest"
                      rf"\s+{AMOUNT}", page)
    check(level is not None or series["class"] == "too_short", "says no level", what)
    if level:
        for text, member in zip(level.groups(), ("first", "last", "min", "max")):
            hold(text, series[f"{member}_{kind}"], what)
    full = re.search(rf"full at\s+\w+ ([\d.,]+): {AMOUNT}, in ([\d.,]+) ", page)
    if full:
        end = math.ceil(series["exhaustion_step"])
        check(int(full.group(1).replace(",", "")) == end, f"full at {full.group(1)}, not {end}", what)
        hold(full.group(2), 100 if kind == "percent" else series["capacity_bytes"], what)


# ---- runs -----------------------------------------------------------------------------------------


def run(path, *options):
    command = [PLIMSOLL, "explain", "--trend", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read_document(path, *options):
    """The document's series, the first one of them the worst."""
    main = json.loads(run(path, "--json", *options))["series"]
    return [main, *main.pop("others")] if main else []


def judge(path, points, what, *options):
    all_series = read_document(path, *options)
    check({series["name"] for series in all_series} == set(points),
          f"names are {[series['name'] for series in all_series]}", what)
    page = run(path, "--all", "--width=200", *options)
    starts = [page.find(f"{series['name']} {WORDS[series['class']]}\n") for series in all_series]
    check(-1 not in starts and starts == sorted(starts), "pages are not in order", what)
    ranks = [WORST_LAST.index(series["class"]) for series in all_series]
    check(ranks == sorted(ranks, reverse=True), f"the worst does not lead: {ranks}", what)
    for series, begin, end in zip(all_series, starts, [*starts[1:], len(page)]):
        derive(series, points[series["name"]], f"{what}, {series['name']}")
        read_page(page[begin:end], series, f"{what}, {series['name']}")
    return all_series


def made_up(folder, seed):
    """Logs of all kinds; returns how many series were judged."""
    draw = random.Random(seed)
    kinds = ["flat", "leak", "late leak", "ramp", "stairs", "saw", "falling"]
    count = 0
    for i in range(LOGS):
        style = draw.choice(["rank", "gpu", "total", "percent"])
        # The worst one stands anywhere but at the front.
        some = ["flat", *draw.sample(kinds, draw.randrange(1, 5))]
        lines, points = make_log(draw, some, draw.choice([0, 0.0005, 0.002]), style)
        path = pathlib.Path(folder) / f"{i}.log"
        path.write_text("\n".join(lines) + "\n")
        options = draw.choice([[], ["--capacity=200GiB"]]) if style in ("rank", "gpu") else []
        count += len(judge(path, points, f"seed {seed}, log {i} ({style}: {', '.join(some)})", *options))
    return count


def samples():
    """What stands after the series' name in the samples of messages."""
    count = 0
    for path in sorted(MESSAGES.glob("*.log")):
        text = path.read_text()
        all_series = read_document(path)
        points = {}
        for series in all_series:
            pattern = rf"step (\d+) .*{re.escape(series['name'])} ([\d.]+) {series['unit']}"
            points[series["name"]] = [(int(step), float(value) * (1 << UNITS[series["unit"]]))
                                      for step, value in re.findall(pattern, text)]
        if all_series:
            count += len(judge(path, points, path.name))
    return count


def main():
    with tempfile.TemporaryDirectory() as folder:
        count = sum(made_up(folder, seed) for seed in SEEDS) + samples()
    for failure in failures[:40]:
        print(failure)
    print(f"{count} series, {len(failures)} claims that do not follow (seeds {SEEDS})")
    sys.exit(1 if failures or count < LOGS else 0)


main()
