#!/usr/bin/env python3
"""test_fidelity.py RUN TOOL [SCRIPT...] - replays what our allocator recorded of oracle scripts.

Our allocator does what PyTorch's does (../allocator). So its recording of a script is one that
PyTorch could have made, and a replay under the same settings has to make the same driver calls at
the same places, and to give out the same addresses. Where it does not, the script is named in
exceptions.json, with what a recording lacks there.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import sys
import tempfile

import cases
import records

SHOWN = 40


def record(runner, folder, texts, settings, is_bare=False):
    """Plays every script under every setting: {snapshot: (script, setting)}."""
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    made = {folder / f"{name}@{setting}.pickle": (name, setting)
            for name in texts for setting in settings}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda item: cases.play(runner, folder / f"{item[1][0]}.txt", item[1][1],
                                              item[0], is_bare), made.items()))
    return made


def look(tool, made, texts):
    """What replay says of the recordings. How large a device is no recording says; settings that
    collect garbage above a share of it need to be told."""
    by_capacity = collections.defaultdict(list)
    for path, (name, setting) in made.items():
        devices = cases.devices(texts[name])
        is_told = "garbage" in records.SETTINGS[setting] and len(devices) == 1
        by_capacity[devices[0][0] if is_told else None].append(path)
    told = {}
    for capacity, paths in by_capacity.items():
        told.update(cases.look(tool, paths, capacity=capacity))
    return told


def is_exact(row):
    """Whether a replay of a device is the recording."""
    return (row["recorded"] == row["predicted"] == row["matched"] and row["max_difference"] == 0
            and row["placements"] == row["placed"])


def shown(name, setting, row):
    if "error" in row:
        return f"{name} under {setting}: {row['error']}"
    return (f"{name} under {setting}, device {row['device']}: {row['matched']} of "
            f"{max(row['recorded'], row['predicted'])} driver calls, {row['placed']} of "
            f"{row['placements']} placements, {row['max_difference'] >> 20} MiB; "
            f"{row['divergence']} {row['doubts']}")


def judge(made, told, exceptions):
    """(lines about what is wrong, devices that are exact, those that are not by reason)."""
    wrong, exact, reasons = [], 0, collections.Counter()
    needed = set()
    for path, (name, setting) in made.items():
        for row in told[str(path)]:
            if "status" in row and row["status"] == "PLIM_UNSUPPORTED":
                continue  # a script without requests
            if "error" not in row and is_exact(row):
                exact += 1
                continue
            needed.add(name)
            if name in exceptions:
                reasons[exceptions[name]] += 1
            else:
                wrong.append(shown(name, setting, row))
    names = {name for name, _ in made.values()}
    wrong += [f"{name} is exact: it is no exception any more"
              for name in exceptions if name in names and name not in needed]
    return wrong, exact, reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("tool")
    parser.add_argument("scripts", nargs="*")
    parser.add_argument("--all", action="store_true", help="show exceptions too")
    parser.add_argument("--bare", action="store_true",
                        help="record no stacks and no pools")
    options = parser.parse_args()
    runner, tool = (pathlib.Path(path).resolve() for path in (options.run, options.tool))
    texts = {name: text for name, text in records.scripts().items()
             if not options.scripts or name in options.scripts}
    exceptions = json.loads((cases.HERE / "exceptions.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        made = record(runner, pathlib.Path(folder), texts, records.SETTINGS,
                      options.bare)
        told = look(tool, made, texts)
    wrong, exact, reasons = judge(made, told, {} if options.all else exceptions)
    for line in wrong[:None if options.all else SHOWN]:
        print(line)
    print(f"{exact} of {exact + sum(reasons.values()) + len(wrong)} devices replayed exactly "
          f"({len(texts)} scripts, {len(records.SETTINGS)} settings)")
    for reason, count in reasons.most_common():
        print(f"{count:5} not: {reason}")
    return 1 if wrong or exact == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
