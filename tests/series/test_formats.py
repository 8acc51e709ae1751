#!/usr/bin/env python3
"""test_formats.py PLIMSOLL [FORMAT...] - logs in real formats, with slopes that are known.

Each format of log_formats.py is written with memory that is flat, settles, grows in stairs or leaks,
with noise. Of several GPUs, ranks or processes, one does so and the others are flat. Checked for each:

    leader      the series that leads the page is the one that grows, by its name
    class       as it was made: a leak that is missed and one that is not there both count
    growth      of a leak, per step or per second, within a tenth
    axis        the log's own steps, else its timestamps, else a count
    capacity    what the log says there is

PLIM_SEED=<n> draws other logs.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
import log_formats
import share

PLIMSOLL = sys.argv[1]
ONLY = sys.argv[2:]
SEED = int(os.environ.get("PLIM_SEED", "13"))
CLASSES = {"flat": ["flat"], "settling": ["ramp"], "stairs": ["staircase"], "leak": ["leak"]}
MIB = 1 << 20


def course(draw, kind, count):
    """MiB by index, without noise; its rise over the run."""
    base = draw.uniform(9000, 14000)
    rise = base * draw.uniform(0.25, 0.45)
    stair = count // 6
    return {
        "flat": lambda i: base,
        "leak": lambda i: base + rise * i / count,
        "settling": lambda i: base + rise * min(1, i / (count * 0.25)),
        "stairs": lambda i: base + rise * (i // stair) / 6,
    }[kind], rise


def make(draw, form, kind):
    """The log's text, and what is to be found in it."""
    count = draw.randrange(180, 260)
    dt = draw.choice([1, 5, 10, 60])
    leader = draw.randrange(form.owners)
    kinds = ["flat"] * form.owners
    kinds[leader] = kind
    made = [course(draw, one, count) for one in kinds]
    noise = draw.choice([0, 0.0008])
    log = []
    for i in range(count):
        mem = [maker(i) * (1 + draw.gauss(0, noise)) for maker, _ in made]
        log.append(form.lines(log_formats.Moment(i, log_formats.START + i * dt, mem, i == 0)))
    found = {
        "classes": CLASSES[kind],
        "owner": form.owner(leader) if form.owner and kind != "flat" else None,
        "growth": made[leader][1] * MIB / count / (dt if form.axis == "second" else form.stride),
    }
    return "".join(log), found


def read(path, *options):
    command = [PLIMSOLL, "explain", "--trend", "--json", *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)["series"] if done.stdout else {}


def faults(form, kind, series, found):
    if not series.get("class"):
        yield "no series"
        return
    name = series["name"]
    if form.name not in name and kind != "flat":
        yield f"led by {name!r}, not {form.name!r}"
    if found["owner"] is not None and found["owner"].lower() not in name.lower():
        yield f"led by {name!r}, not that of {found['owner']!r}"
    if series["class"] not in found["classes"]:
        yield f"{series['class']} for {kind} ({name})"
    elif kind == "leak" and not form.is_share:
        growth = series["growth_bytes_per_step"]
        if abs(growth - found["growth"]) > 0.1 * found["growth"]:
            yield f"grows by {growth:.6g} a {series['step_name']}, not {found['growth']:.6g}"
    if series["step_name"] != form.axis:
        yield f"by {series['step_name']}, not {form.axis}"
    capacity = series["capacity_bytes"]
    if form.capacity is not None and capacity != form.capacity:
        yield f"capacity {capacity}, not {form.capacity}"


def main():
    count = 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log"
        kinds = list(CLASSES)
        # Other kinds of each format, so that a share has some of all.
        cases = [(form, kinds[(i + turn) % len(kinds)])
                 for i, form in enumerate(log_formats.FORMATS) for turn in range(len(kinds))
                 if not ONLY or form.id in ONLY]
        for form, kind in share.of(cases):
            draw = random.Random(f"{SEED} {form.id} {kind}")
            text, found = make(draw, form, kind)
            path.write_text(text)
            count += 1
            all_faults = list(faults(form, kind, read(path), found))
            wrong += 1 if all_faults else 0
            for fault in all_faults:
                print(f"{form.id}, {kind}: {fault}")
    print(f"{len(log_formats.FORMATS)} formats, {count} logs, {wrong} read wrongly (seed {SEED})")
    sys.exit(1 if wrong or (not ONLY and count < 100 // share.ONE_OF) else 0)


main()
