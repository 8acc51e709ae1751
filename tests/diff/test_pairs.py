"""Each planted bug of the rehearsals against its cure: the line to blame comes first.

    test_pairs.py DIFF_TOOL

With the cure before and the bug after, the first group of a moment holds the label's line, as the
user's innermost line or as that which calls the model; with the bug before, the last group does. It
is the moment that leads in all but one. A recording and itself have no difference.
"""

import json
import os
import subprocess
import sys

DATA = "tests/data/rehearsals"
LEADS = ("step", "peak", "end")


def compare(tool, before, after):
    """The moment that leads, and of each moment its first words and its groups."""
    text = subprocess.run([tool, before, after], capture_output=True, text=True, check=True).stdout
    lead, moments, groups = None, {}, []
    for line in text.splitlines():
        words = line.split("\t")
        if words[0] == "device":
            lead = words[3]
        elif words[0] == "moment":
            groups = []
            moments[words[1]] = (words[2:], groups)
        elif words[0] == "group":
            groups.append(words[1:])
    return lead, moments


def source(place):
    """The text of a place's line, from the examples."""
    file, _, line = place.rpartition(":")
    at = file.find("/rehearse/")
    path = "examples" + file[at:]
    if at < 0 or not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as lines:
        return lines.read().splitlines()[int(line) - 1]


def blames(group, side, blame):
    return any(blame in source(place) for place in group[side].split(" "))


def check(tool, name, label, faults):
    bug = os.path.join(DATA, name)
    cure = os.path.join(DATA, name.replace("bug-", "fixed-").replace("-oom", ""))
    for before, after, at, side in ((cure, bug, 0, 7), (bug, cure, -1, 6)):
        lead, moments = compare(tool, before, after)
        found = [kind for kind in LEADS if moments[kind][0][0] == "differs" and
                 blames(moments[kind][1][at], side, label["blame"])]
        if not found or (lead not in found and "logits-kept-fp32" not in name):
            faults.append(f"{before} and {after}: {label['blame']!r} is blamed at "
                          f"{', '.join(found) or 'no moment'}, and {lead} leads")
    for path in (bug, cure):
        _, moments = compare(tool, path, path)
        if any(words[0] == "differs" for words, _ in moments.values()):
            faults.append(f"{path} differs from itself")


def main():
    with open(os.path.join(DATA, "labels.json"), encoding="utf-8") as file:
        labels = json.load(file)
    faults = []
    bugs = [name for name in labels if name.startswith("bug-")]
    for name in bugs:
        check(sys.argv[1], name, labels[name], faults)
    print("\n".join(faults))
    sys.exit(1 if faults or len(bugs) < 14 else 0)


if __name__ == "__main__":
    main()
