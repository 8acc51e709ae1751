#!/usr/bin/env python3
"""How fast `plimsoll explain` reads logs, beside programs that read them for less.

    run.py --make-logs SCRIPT --plimsoll PROGRAM [--quick] [--mb 1000] [--seed N] [--repeat N]
           [--directory DIR]

Makes ordinary logs (tests/oomtext/make_logs.py), in which there is nothing to find, and removes
them: a calm one, as logs mostly are, and one full of words about memory. Each round runs, one
after the other, plimsoll explain --json and each rival on the file, which is in the page cache:
`cat` to /dev/null (reading alone), `wc -l`, and `grep -c -i 'out of memory'` in the locale of the
caller and in the C locale. Ratios are taken within a round, so that what else the machine does
weighs on all, and the median is shown; above 1 they are in our favour. Prints one JSON document;
status 1 only if a program fails.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from measuring import column, fail, machine, median, run  # noqa: E402

LOGS = {"calm": ["--calm"], "nasty": []}
RIVALS = {
    "cat": (["cat"], {}),
    "wc": (["wc", "-l"], {}),
    "grep": (["grep", "-c", "-i", "out of memory"], {}),
    "grep_c_locale": (["grep", "-c", "-i", "out of memory"], {"LC_ALL": "C"}),
}


def make(options, directory, name, words):
    path = os.path.join(directory, f"{name}.log")
    run([sys.executable, options["make_logs"], "--mb", options["mb"], "--seed", options["seed"],
         *words, "-o", path])
    with open(path, "rb") as file:  # into the page cache, for whoever is measured first
        while file.read(1 << 20):
            pass
    return path


def explain(options, path):
    output, taken = run([options["plimsoll"], "explain", "--json", path], statuses=(0, 1))
    return json.loads(output), taken


def measure(options, path):
    size = os.path.getsize(path)
    document, _ = explain(options, path)
    if document["bytes"] != size:
        fail(f"plimsoll read {document['bytes']} of {size} bytes")
    ours, theirs = [], {name: [] for name in RIVALS}
    for _ in range(int(options["repeat"])):
        ours.append(explain(options, path)[1])
        for name, (words, environment) in RIVALS.items():
            # grep stops at the first match if its output is /dev/null.
            theirs[name].append(run([*words, path], statuses=(0, 1), keep_output=name != "cat",
                                    environment=environment)[1])
    os.remove(path)

    def rate(rounds):
        return {"mb_per_second": round(size / 1e6 / median([taken["seconds"] for taken in rounds]))}

    def ratio(rounds, name):
        return round(median([b[name] / max(a[name], 1e-6) for a, b in zip(ours, rounds)]), 3)
    return {
        "file": {"bytes": size, "lines": document["lines"], "messages": len(document["messages"])},
        "plimsoll": column(ours) | rate(ours),
        **{name: column(rounds) | rate(rounds) for name, rounds in theirs.items()},
        "ratio": {name: {"seconds": ratio(rounds, "seconds"), "rss": ratio(rounds, "rss_bytes")}
                  for name, rounds in theirs.items()},
    }


def parse(words):
    options = {"mb": "1000", "seed": "1", "repeat": "3", "directory": None}
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--quick":
            options |= {"mb": "2", "repeat": "1"}
        elif word in ("--make-logs", "--plimsoll", "--mb", "--seed", "--repeat",
                      "--directory") and words:
            options[word.removeprefix("--").replace("-", "_")] = words.pop(0)
        else:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
    if "make_logs" not in options or "plimsoll" not in options:
        fail("--make-logs and --plimsoll have to be given")
    return options


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="explain_scan.", dir=options["directory"]) as place:
        document = {"benchmark": "explain_scan", "machine": machine(),
                    "repeat": int(options["repeat"])}
        for name, words in LOGS.items():
            document[name] = measure(options, make(options, place, name, words))
    # What a child is charged with although it is ours: below this, memory is not measured.
    document["rss_floor_bytes"] = run(["true"])[1]["rss_bytes"]
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
