#!/usr/bin/env python3
"""Ordinary training logs without one failure of memory in them, as nasty as real ones.

    make_logs.py --mb N [--seed N] [--only SHAPE | --calm] [-o FILE]
    make_logs.py --list

One seed gives one text. Sections of all shapes (log_training.py, log_machine.py, log_words.py)
follow each other, dressed as logs are: with ranks or times in front, colours, CRLF; and hints that
speak of memory fall in between. --calm leaves out the words about memory that a program did not
print of its own accord: prose, code, help. So calm logs are as real ones mostly are, the others
have in a few MB what real ones have in many GB.
"""
import argparse
import random
import sys

import log_machine
import log_training
import log_words

CALM = log_training.SHAPES + log_machine.SHAPES
SHAPES = CALM + log_words.SHAPES


def plain(rng, lines):
    del rng
    return lines


def ranked(rng, lines):
    head = rng.choice(("[rank{}]: ", "{}: ", "[{}]<stdout>:", "(worker_{}) ", "\x1b[36m({})\x1b[0m "))
    head = head.format(rng.randint(0, 63))
    return [head + line for line in lines]


def coloured(rng, lines):
    colours = [f"\x1b[{code}m" for code in ("1;31", "32", "33", "0;34", "38;5;208")]
    return [f"{rng.choice(colours)}{line}\x1b[0m" if i % 3 == 0 else line
            for i, line in enumerate(lines)]


def crlf(rng, lines):
    del rng
    return [line + "\r" for line in lines]


def timed(rng, lines):
    day = rng.randint(1, 28)
    return [f"2026-03-{day:02}T{log_training.clock(i)}.{i % 1000000000:09}Z {line}"
            for i, line in enumerate(lines)]


def numbered(rng, lines):
    """grep -n over many files."""
    name = rng.choice(("train.log", "logs/job_12.out", "slurm-4711.out"))
    return [f"{name}:{i + 1}:{line}" for i, line in enumerate(lines)]


DRESSES = [plain, plain, plain, plain, ranked, coloured, crlf, timed, numbered]


def sections(seed, shapes):
    """Endless: (name of the shape, text as bytes)."""
    rng = random.Random(seed)
    while True:
        order = list(shapes)
        rng.shuffle(order)
        for shape in order:
            lines = list(shape(rng))
            for _ in range(rng.randint(0, 3) if shapes is not CALM else 0):
                lines.insert(rng.randint(0, len(lines)), rng.choice(log_words.HINTS))
            lines = rng.choice(DRESSES)(rng, lines)
            yield shape.__name__, ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def write(file, seed, wanted_bytes, shapes=None):
    """Writes at least so many bytes, whole sections; returns [(offset, name of the shape)]."""
    places = []
    at = 0
    for name, text in sections(seed, shapes or SHAPES):
        places.append((at, name))
        at += file.write(text)
        if at >= wanted_bytes:
            return places


def main():
    parser = argparse.ArgumentParser(description="Ordinary training logs, made up.")
    parser.add_argument("--mb", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the one shape to write")
    parser.add_argument("--calm", action="store_true", help="no words about memory")
    parser.add_argument("--list", action="store_true", help="the names of the shapes")
    parser.add_argument("-o", dest="output", help="a file, instead of standard output")
    options = parser.parse_args()
    if options.list:
        print("\n".join(shape.__name__ for shape in SHAPES))
        return
    shapes = CALM if options.calm else SHAPES
    if options.only is not None:
        shapes = [shape for shape in SHAPES if shape.__name__ == options.only]
        if not shapes:
            parser.error(f"there is no shape {options.only}")
    if options.output is None:
        write(sys.stdout.buffer, options.seed, options.mb * 1e6, shapes)
        sys.stdout.flush()
    else:
        with open(options.output, "wb") as file:
            write(file, options.seed, options.mb * 1e6, shapes)


if __name__ == "__main__":
    main()
