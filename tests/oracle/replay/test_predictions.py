#!/usr/bin/env python3
"""test_predictions.py RUN TOOL [SCRIPT...] - holds predictions under other settings to PyTorch.

A script is recorded under one setting and replayed under each of the others. What PyTorch's own
library made of the same script under those stands in the golden records: whether every request
found memory, and the peak of reserved bytes. Left out are scripts that are another program under
each setting (they change settings or limits, or make the driver fail) and recordings in which
requests failed: what a program does after that is its own affair.
"""
import argparse
import collections
import json
import pathlib
import sys
import tempfile

import cases
import records
import test_fidelity

CLOSE = 0.01
SHOWN = 60
LEFT_OUT = (cases.CHANGED_SETTINGS | cases.LIMITS | cases.FAILURES | cases.CALLBACKS
            | cases.UNCACHED | {"peak", "useonoom", "nosplit"})


def predict(tool, made, texts):
    """{(script, setting recorded, setting, device): result of the run}, and how exact each was."""
    found = {}
    by_capacity = collections.defaultdict(list)
    for path, (name, setting) in made.items():
        for device, (total, used) in enumerate(cases.devices(texts[name])):
            by_capacity[total - used].append((path, name, setting, device))
    for capacity, wanted in by_capacity.items():
        paths = list(dict.fromkeys(path for path, _, _, _ in wanted))
        told = cases.look(tool, paths, records.SETTINGS.values(), capacity)
        for path, name, setting, device in wanted:
            for row in told[str(path)]:
                if row.get("device") == device:
                    for other, result in zip(records.SETTINGS, row["runs"]):
                        found[name, setting, other, device] = result
    return found


def compare(found, golden):
    """{(script, recorded, other, device): what is wrong, or None}"""
    verdicts = {}
    for (name, setting, other, device), result in found.items():
        recorded = golden[name][setting][device]
        wanted = golden[name][other][device]
        if recorded.ooms > 0:
            continue
        said = None
        if result["survives"] != (wanted.ooms == 0):
            said = f"survives {result['survives']}, and PyTorch has {wanted.ooms} failures"
        elif wanted.ooms == 0:
            off = result["peak_reserved"] / wanted.peak_reserved - 1 if wanted.peak_reserved else 0
            if abs(off) > CLOSE:
                said = (f"peak {result['peak_reserved'] / 2**20:g} MiB instead of "
                        f"{wanted.peak_reserved / 2**20:g} ({off:+.1%})")
        verdicts[name, setting, other, device] = said
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("tool")
    parser.add_argument("scripts", nargs="*")
    parser.add_argument("--all", action="store_true", help="show exceptions too")
    options = parser.parse_args()
    runner, tool = (pathlib.Path(path).resolve() for path in (options.run, options.tool))
    texts = {name: text for name, text in records.scripts().items()
             if (not options.scripts or name in options.scripts)
             and not cases.words(text) & LEFT_OUT}
    golden = {name: {setting: cases.totals(record)
                     for setting, record in records.golden(name, text).items()}
              for name, text in texts.items()}
    exceptions = json.loads((cases.HERE / "predictions.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        made = test_fidelity.record(runner, pathlib.Path(folder), texts, records.SETTINGS)
        verdicts = compare(predict(tool, made, texts), golden)
    wrong = {case: said for case, said in verdicts.items() if said}
    known = collections.Counter(exceptions[case[0]] for case in wrong if case[0] in exceptions)
    unknown = {case: said for case, said in wrong.items()
               if options.all or case[0] not in exceptions}
    for (name, setting, other, device), said in list(unknown.items())[:SHOWN]:
        print(f"{name}, device {device}, recorded under {setting}, predicted under {other}: {said}")
    print(f"{len(verdicts) - len(wrong)} of {len(verdicts)} predictions within {CLOSE:.0%} of "
          f"PyTorch {records.TORCH} and right about survival ({len(texts)} scripts)")
    for reason, count in known.most_common():
        print(f"{count:5} not: {reason}")
    return 1 if unknown or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
