#!/usr/bin/env python3
"""test_ordinary_logs.py PLIMSOLL [--mb N] [--seed N] - `plimsoll explain` cries no wolf.

Runs `plimsoll explain --json` on ordinary logs (make_logs.py) and demands that it finds no message
in them: first on every nasty line by itself amid harmless ones, so that a failure names all lines
that are taken for messages; then on a section of each shape; then on N MB of everything. Whoever
adds a form and fails here reads the form's name and the line.
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
    if done.returncode not in (0, 1):
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


def in_batches(plimsoll, texts):
    """Explains each text: (index, message)."""
    for first in range(0, len(texts), FILES_AT_ONCE):
        batch = texts[first:first + FILES_AT_ONCE]
        with tempfile.TemporaryDirectory(prefix="ordinary.") as folder:
            paths = [os.path.join(folder, f"{index}.log") for index in range(len(batch))]
            for path, text in zip(paths, batch):
                with open(path, "wb") as file:
                    file.write(text)
            for message in explain(plimsoll, paths)["messages"]:
                yield first + paths.index(message["file"]), message


def line_by_line(plimsoll, rng):
    """Complaints about lines by themselves: (form, shape, text)."""
    lines = nasty_lines(rng)
    before, after = filler(rng), filler(rng)
    texts = [(before + line + "\n" + after).encode("utf-8", "surrogatepass") for line, _ in lines]
    for index, message in in_batches(plimsoll, texts):
        line, shape = lines[index]
        yield message["form"], shape, repr(line[:300])


def around(text, message):
    first = max(message["offset"] - 150, 0)
    shown = text[first:message["offset"] + message["length"] + 150]
    return f"line {message['line']}, {message['count']} times: {shown.decode('utf-8', 'replace')!r}"


def section_by_section(plimsoll, rng):
    """Complaints about each shape in each dress: lines in company, cut and with prefixes."""
    room = filler(rng).encode()
    kinds = [(shape, dress) for shape in make_logs.SHAPES
             for dress in dict.fromkeys(make_logs.DRESSES)]
    texts = [("\n".join(dress(rng, list(shape(rng)))) + "\n").encode("utf-8", "surrogatepass") + room
             for shape, dress in kinds]
    for index, message in in_batches(plimsoll, texts):
        shape, dress = kinds[index]
        yield message["form"], shape.__name__, f"{dress.__name__}, {around(texts[index], message)}"


def all_together(plimsoll, seed, megabytes):
    """Complaints about all in a row; of what is said often, only the first place is known."""
    with tempfile.TemporaryDirectory(prefix="ordinary.") as folder:
        path = os.path.join(folder, "train.log")
        with open(path, "wb") as file:
            places = make_logs.write(file, seed, megabytes * 1e6)
        document = explain(plimsoll, [path])
        with open(path, "rb") as file:
            text = file.read()
    if document["bytes"] != len(text):
        yield "", "the whole", f"{document['bytes']} of {len(text)} bytes were read"
    offsets = [offset for offset, _ in places]
    for message in document["messages"]:
        shape = places[bisect.bisect_right(offsets, message["offset"]) - 1][1]
        yield message["form"], shape, around(text, message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plimsoll")
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    count = 0
    seen = set()
    for form, shape, text in line_by_line(options.plimsoll, rng):
        print(f"{form} in {shape}: {text}")
        seen.add((form, shape))
        count += 1
    for way in (section_by_section(options.plimsoll, rng),
                all_together(options.plimsoll, options.seed, options.mb)):
        for form, shape, text in way:
            if (form, shape) not in seen:  # else it is an old story, told at length
                print(f"{form} in {shape}: {text}")
                seen.add((form, shape))
                count += 1
    print(f"{count} messages where there are none" if count > 0 else "no messages: good")
    sys.exit(1 if count > 0 else 0)


if __name__ == "__main__":
    main()
