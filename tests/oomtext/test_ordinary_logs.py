#!/usr/bin/env python3
"""test_ordinary_logs.py PLIMSOLL [--mb N] [--seed N] - `plimsoll explain` cries no wolf.

Runs `plimsoll explain --json` on ordinary logs (make_logs.py) and demands that it finds no message
in them: first on every nasty line by itself amid harmless ones, so that a failure names all lines
that are taken for messages; then on N MB of everything. Whoever adds a form and fails here reads
the form's name and the line.
"""
import argparse
import bisect
import json
import os
import random
import subprocess
import sys
import tempfile

import log_machine
import log_training
import log_words
import make_logs

# Reports such as "MA 12.3 GB Max_MA 14.1 GB" are explained to who pastes them alone, not in logs.
PASTE_BYTES = 64 << 10
FILES_AT_ONCE = 100


def explain(plimsoll, paths):
    done = subprocess.run([plimsoll, "explain", "--json", *paths], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"explain ended with status {done.returncode}: {done.stderr.decode()[:2000]}")
    document = json.loads(done.stdout)
    if document["schema"] != "explain/1":
        sys.exit(f"the schema is {document['schema']}")
    return document


def filler(rng):
    lines = []
    while sum(map(len, lines)) < PASTE_BYTES * 5 // 8:
        lines += log_training.plain_loop(rng)
    return "\n".join(lines) + "\n"


def nasty_lines(rng):
    """Every line of words about memory, and one of each kind that machines print."""
    lines = {text: "hints" for text in log_words.HINTS}
    lines |= {text: "prose" for text in log_words.PROSE}
    lines |= {"    " + text: "tracebacks" for text in log_words.STATEMENTS}
    for shape in [log_words.pages] + log_machine.SHAPES:
        kinds = set()
        for line in shape(rng):
            kind = "".join(char for char in line if not char.isdigit())[:60]
            if line.strip() and kind not in kinds:
                kinds.add(kind)
                lines[line] = shape.__name__
    return list(lines.items())


def line_by_line(plimsoll, rng):
    """Complaints about lines by themselves."""
    lines = nasty_lines(rng)
    before, after = filler(rng), filler(rng)
    for first in range(0, len(lines), FILES_AT_ONCE):
        batch = lines[first:first + FILES_AT_ONCE]
        with tempfile.TemporaryDirectory(prefix="ordinary.") as folder:
            paths = [os.path.join(folder, f"{index}.log") for index in range(len(batch))]
            for path, (line, _) in zip(paths, batch):
                with open(path, "wb") as file:
                    file.write((before + line + "\n" + after).encode("utf-8", "surrogatepass"))
            for message in explain(plimsoll, paths)["messages"]:
                line, shape = batch[paths.index(message["file"])]
                yield f"{message['form']} in {shape}: {line[:300]!r}"


def all_together(plimsoll, seed, megabytes):
    """Complaints about everything in a row; of what is said often, only the first place is known."""
    with tempfile.TemporaryDirectory(prefix="ordinary.") as folder:
        path = os.path.join(folder, "train.log")
        with open(path, "wb") as file:
            places = make_logs.write(file, seed, megabytes * 1e6)
        document = explain(plimsoll, [path])
        if document["bytes"] != os.path.getsize(path):
            yield f"{document['bytes']} of {os.path.getsize(path)} bytes were read"
        offsets = [offset for offset, _ in places]
        with open(path, "rb") as file:
            for message in document["messages"]:
                file.seek(max(message["offset"] - 150, 0))
                around = file.read(message["length"] + 300).decode("utf-8", "replace")
                shape = places[bisect.bisect_right(offsets, message["offset"]) - 1][1]
                yield (f"{message['form']} in {shape}, line {message['line']}, {message['count']} "
                       f"times: {around!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plimsoll")
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    complaints = list(line_by_line(options.plimsoll, random.Random(options.seed)))
    complaints += all_together(options.plimsoll, options.seed, options.mb)
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} messages where there are none" if complaints else "no messages: good")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
