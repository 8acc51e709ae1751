#!/usr/bin/env python3
"""Hold `plimsoll diagnose` to recordings with a known answer.

    check.py build/release/plimsoll tests/data/diagnoses/labels-*.json [--wrong] [NAME ...]

Prints one line a recording, then totals; --wrong prints only recordings with something wrong,
NAMEs select recordings. Marks: ok, WRONG, `-` (the label does not say). `2nd` for a line: a later
finding names it. Exits with 1 if anything is wrong.
"""

import argparse
import json
import pathlib
import subprocess
import sys

REHEARSALS = pathlib.Path("examples/rehearse")  # from the repository's folder
COLUMNS = ("verdict", "leak", "line", "growth", "period")
TOLERANCE = 0.02


def lines_of_blame(program, blame):
    """Where a piece of source text stands in a program of examples/rehearse, or in its models."""
    sources = [program, *sorted((REHEARSALS / "models").glob("*.py"))]
    return [[source.relative_to(REHEARSALS).as_posix(), number]
            for source in sources
            for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1)
            if blame in line]


def device_of(words, ends):
    """The device that a rehearsal is of: the GPU, or the memory that it ran out of. Where a run of
    as much memory as it likes goes on a smaller GPU, the GPU is in question."""
    option = "--capacity" if ends and "--capacity" in words else "--gpu"
    return [option, words[words.index(option) + 1]]


def of_rehearsal(file, label):
    """A label of tests/data/rehearsals, as those of tests/data/diagnoses."""
    words = label["command"].split()
    program = next(word for word in words if word.endswith(".py"))
    lines = lines_of_blame(pathlib.Path(program), label["blame"]) if label["blame"] else []
    return {"name": file.removesuffix(".pickle.zst"), "file": file, "verdict": label["verdict"],
            "also": [], "leak": label["verdict"] == "leak", "blame_lines": lines,
            "device": device_of(words, label["ends"])}


def read_labels(path):
    labels = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(labels, dict):
        labels = [of_rehearsal(file, label) for file, label in labels.items()]
    return [(label, path.parent / label["file"]) for label in labels]


def diagnose(plimsoll, path, options=()):
    """(findings of all devices, verdict); without a document a message instead of the verdict."""
    done = subprocess.run([plimsoll, "diagnose", "--json", *options, path], capture_output=True,
                          text=True)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return [], f"exit {done.returncode}: {done.stderr.strip()[:60]}"
    found = [finding for device in document["devices"] for finding in device["findings"]]
    return found, document["verdict"]


def names_line(finding, lines):
    frame = (finding.get("root") or {}).get("frame") or {}
    return any(str(frame.get("filename", "")).endswith(file) and frame.get("line") == line
               for file, line in lines)


def judge_line(label, findings, verdict):
    if not label["blame_lines"] or "frames" in label.get("strip", ()):
        return "-"
    if verdict == "healthy" in label["also"] and not findings:
        return "-"
    named = [names_line(finding, label["blame_lines"]) for finding in findings]
    if named and named[0]:
        return "ok"
    return "2nd" if any(named) else "WRONG"


def judge_growth(label, leaks):
    """Growth a step, where a step is a turn of the loop or one of the optimizer's."""
    planted = [label.get(name) for name in ("growth_bytes_per_step", "growth_blocks_per_step")]
    planted = [bytes_ / times for bytes_ in planted if bytes_
               for times in (1, label.get("optimizer_steps") or 1)]
    if not planted:
        return "-"
    found = [finding.get("growth_bytes_per_step") or 0 for finding in leaks]
    # One leak may be several findings; their sum is as good as the largest.
    return "ok" if any(abs(bytes_ - right) <= TOLERANCE * right
                       for bytes_ in [*found, sum(found)] for right in planted) else "WRONG"


def judge_period(label, leaks):
    if not label.get("period_steps"):
        return "-"
    right = {label["period_steps"],
             max(1, round(label["period_steps"] * (label.get("optimizer_steps") or 1)))}
    return "ok" if any(finding.get("period_steps") in right for finding in leaks) else "WRONG"


def judge(label, findings, verdict):
    leaks = [finding for finding in findings if finding["kind"] == "leak"]
    words = [label["verdict"], *label["also"]]
    return {
        "verdict": "ok" if verdict in words else "WRONG",
        "leak": "-" if label["leak"] is None else
                "ok" if bool(leaks) == label["leak"] else "WRONG",
        "line": judge_line(label, findings, verdict),
        "growth": judge_growth(label, leaks) if label["leak"] else "-",
        "period": judge_period(label, leaks) if label["leak"] else "-",
    }


def first_words(findings):
    """The first finding, in short."""
    if not findings:
        return ""
    first = findings[0]
    frame = (first.get("root") or {}).get("frame") or {}
    place = f"{pathlib.PurePath(str(frame.get('filename'))).name}:{frame.get('line')}"
    growth = first.get("growth_bytes_per_step")
    return (f"{first['kind']}/{first.get('cause')} {place if frame else 'no line'}"
            + (f" {growth:,.0f} B/step, every {first.get('period_steps')}" if growth else ""))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plimsoll")
    parser.add_argument("rest", nargs="+", metavar="LABELS.json|NAME")
    parser.add_argument("--wrong", action="store_true", help="only what is wrong")
    return parser.parse_args()


def main():
    arguments = parse()
    files = [pathlib.Path(word) for word in arguments.rest if word.endswith(".json")]
    names = [word for word in arguments.rest if not word.endswith(".json")]
    labels = [(label, path) for file in files for label, path in read_labels(file)
              if not names or label["name"] in names]
    totals = {column: [0, 0] for column in COLUMNS}
    false_leaks = right = 0
    print(f"{'recording':30}{'label':19}{'found':19}"
          + "".join(f"{column:8}" for column in COLUMNS[1:]))
    for label, path in labels:
        findings, verdict = diagnose(arguments.plimsoll, path, label.get("device", ()))
        marks = judge(label, findings, verdict)
        for column, mark in marks.items():
            totals[column][0] += mark in ("ok", "2nd")
            totals[column][1] += mark != "-"
        false_leaks += label["leak"] is False and marks["leak"] == "WRONG"
        is_right = "WRONG" not in marks.values()
        right += is_right
        if not (arguments.wrong and is_right):
            found = verdict if marks["verdict"] == "ok" else f"WRONG {verdict}"
            print(f"{label['name']:30}{label['verdict']:19}{found:19}"
                  + "".join(f"{marks[column]:8}" for column in COLUMNS[1:]) + first_words(findings))
    print(f"\n{right} of {len(labels)} recordings have nothing wrong; false leaks: {false_leaks}")
    for column, (good, judged) in totals.items():
        print(f"  {column:8}{good:4} of {judged}")
    return right != len(labels)


if __name__ == "__main__":
    sys.exit(main())
