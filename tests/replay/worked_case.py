#!/usr/bin/env python3
"""worked_case.py PLIMSOLL              what docs/fragmentation.md says of recordings is so
worked_case.py PLIMSOLL rehearsals   and what it says of PyTorch is so

Commands, outputs and figures are read from the page, so that it cannot say anything else than what
happens. Rehearsals need a Python that has PyTorch for CUDA, in PLIM_TORCH_PYTHON
(tools/torch-python installs one); without it they are skipped. With PLIM_TORCH_SHORT each third
case of the tables is rehearsed; all of them are replayed.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "fragmentation.md").read_text(encoding="utf-8")
RECORDINGS = ROOT / "tests" / "data" / "rehearsals"
PLIMSOLL = str(pathlib.Path(sys.argv[1]).absolute())
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
MIB = 1 << 20
PIECE_MIB = 2  # the smallest piece of a driver
CLEAN = {key: value for key, value in os.environ.items()
         if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG")}


# --- the page ---

def commands():
    """(words, what jq is asked for or None, lines of output), in the order of the page."""
    found = []
    for block in re.findall(r"(?ms)^```\n(\$ .*?)^```$", PAGE):
        for piece in re.split(r"(?m)^\$ ", block.replace("\\\n", " "))[1:]:
            command, *lines = piece.splitlines()
            command, _, asked = command.partition(" | jq ")
            found.append((shlex.split(command), asked.strip("'") or None, lines))
    return found


def of(*names):
    return [one for one in commands() if one[0][1] in names]


def option(words, name):
    return next((word.split("=", 1)[1] for word in words if word.startswith(f"--{name}=")), None)


def row_of(line):
    conf, needs, *lives = [cell.strip(" `") for cell in line.strip("|").split("|")]
    return conf, int(needs.removesuffix(" MiB")), lives


def table(outcomes):
    """(settings, MiB, what becomes of it): with that and with less, or with that only."""
    rows = [row_of(line) for line in re.findall(r"(?m)^\|.*MiB \|.*\|$", PAGE)]
    return [row for row in rows if len(row[2]) == outcomes]


def elsewhere_mib():
    return int(re.search(r"\(with the (\d+)\s+MiB that its context", PAGE).group(1))


def fits(expected, lines):
    """Whether the lines are as expected, where `...` stands for any number of them."""
    pieces, at = [[]], 0
    for line in expected:
        if line == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        starts = [0] if number == 0 else [len(lines) - len(piece)] if last and piece \
            else range(at, len(lines) - len(piece) + 1)
        found = [start for start in starts
                 if start >= at and lines[start:start + len(piece)] == piece]
        if not found:
            return piece
        at = found[0] + len(piece)
    return None if pieces[-1] == [] or at == len(lines) else lines[at:]


def run(words, folder=ROOT):
    """What is printed, both streams in their order, and the exit status."""
    done = subprocess.run([PLIMSOLL, *words[1:]], cwd=folder, env={**CLEAN, "LC_ALL": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=500, check=False)
    return done.stdout.decode(errors="replace"), done.returncode


def ask(document, asked):
    """What jq prints for members of the document."""
    names = [name.strip().removeprefix(".") for name in asked.split(",")]
    return [json.dumps(document[name]) for name in names]


class AsPrinted(unittest.TestCase):
    def as_printed(self, said, expected):
        missing = fits(expected, said.splitlines())
        self.assertIsNone(missing, "not printed:\n" + "\n".join(missing or []) + "\nbut:\n" + said)


# --- what needs no PyTorch ---

def replayed(capacity, *confs):
    """The document of the whole run under these settings; other options may stand among them."""
    words = [word if word.startswith("--") else f"--conf={word}" for word in confs]
    return json.loads(run(["plimsoll", "replay", "--json", f"--capacity={capacity}", *words,
                           str(RECORDINGS / "fsdp-70b-fragmented.pickle.zst")])[0])


def at_capacities():
    """(settings, MiB that the program can have, whether it lives) of both tables."""
    return [(conf, mib - PIECE_MIB * less, said) for columns in (2, 1)
            for conf, mib, outcomes in table(columns) for less, said in enumerate(outcomes)]


class Recordings(AsPrinted):
    def test_commands_print_what_the_page_shows(self):
        self.assertGreaterEqual(len(of("tune", "replay")), 5)
        for words, asked, expected in of("tune", "replay"):
            with self.subTest(" ".join(words)):
                said, status = run(words)
                self.assertEqual(status, 0, said)
                if asked:
                    said = "\n".join(ask(json.loads(said), asked))
                self.as_printed(said, expected)

    def test_recordings_are_of_the_commands_shown(self):
        labels = json.loads((RECORDINGS / "labels.json").read_text(encoding="utf-8"))
        said = [labels[f"fsdp-70b-fragmented{end}.pickle.zst"]["command"] for end in ("-oom", "")]
        recorded = [words for words, _, _ in of("rehearse") if option(words, "record")]
        for label, words in zip(said, recorded, strict=True):
            made = shlex.split(label)
            self.assertEqual(made[made.index("--"):], words[words.index("--"):])
            for name in ("gpu", "capacity"):
                value = made[made.index(f"--{name}") + 1] if f"--{name}" in made else None
                self.assertEqual(value, option(words, name))

    def test_the_proof_is_of_the_line_that_tune_prints(self):
        line = re.search(r"export PYTORCH_CUDA_ALLOC_CONF=(\S+)", PAGE).group(1)
        confs = {option(words, "conf") for words, _, _ in commands()} - {None}
        self.assertEqual(confs, {line})
        (capacity,), (survives, reserved, allocated) = [
            lines for _, asked, lines in commands() if asked]
        self.assertEqual({option(words, "capacity") for words, _, _ in of("replay")},
                         {f"{capacity}B"})
        self.assertEqual(survives, "true")
        proof = next(lines for words, _, lines in of("rehearse") if option(words, "conf"))
        self.assertIn(f"peak: allocated {int(allocated):,} B, reserved {int(reserved):,} B", proof)

    def test_needs_are_those_of_the_table(self):
        rows = table(2)
        self.assertGreaterEqual(len(rows), 4)
        capacity = next(option(words, "capacity") for words, _, _ in of("replay"))
        seen = replayed(capacity, *(conf for conf, _, _ in rows))
        needs = [result["min_capacity_bytes"] for result in seen["results"][1:]]
        self.assertEqual(needs, [mib * MIB for _, mib, _ in rows])
        floor, costs, least, most = (int(figure) for figure in re.search(
            r"The floor is (\d+) MiB: of the (\d+) MiB .*?,\s(\d+)\sto\s(\d+)\sMiB\sremain",
            PAGE).groups())
        self.assertEqual(seen["floor_bytes"], floor * MIB)
        self.assertEqual(costs, rows[0][1] - floor)
        over = [mib - floor for _, mib, _ in rows[1:]]
        self.assertEqual((least, most), (min(over), max(over)))

    def test_it_lives_and_dies_where_the_tables_say(self):
        cases = at_capacities()
        self.assertGreaterEqual(len(cases), 11)
        for conf, mib, said in cases:
            with self.subTest(conf=conf, mib=mib):
                result = replayed(f"{mib}MiB", conf, "--quick")["results"][1]
                self.assertEqual("lives" if result["survives"] else "dies", said)


# --- what needs PyTorch ---

def rehearse(words):
    program = words.index("--")
    words = [*words[:program], *(PYTHON if word == "python" else word
                                 for word in words[program:])]
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
    with tempfile.TemporaryDirectory() as folder:
        return run(words, folder)


class Rehearsals(AsPrinted):
    def test_commands_print_what_the_page_shows(self):
        shown = of("rehearse")
        self.assertGreaterEqual(len(shown), 4)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for one, (said, status) in zip(shown, pool.map(rehearse, [one[0] for one in shown])):
                with self.subTest(" ".join(one[0])):
                    words = ("ran out of memory", "runs out of memory", "It is tight")
                    self.assertEqual(status, int(any(word in said for word in words)))
                    self.as_printed(said, one[2])

    def test_it_lives_and_dies_where_the_tables_say(self):
        start = next(words for words, _, _ in of("rehearse"))
        program = start[start.index("--"):]
        every = at_capacities()
        cases = every[::3] if os.environ.get("PLIM_TORCH_SHORT") else every
        print(f"{len(every) - len(cases)} of {len(every)} cases are left out: PLIM_TORCH_SHORT"
              if len(cases) < len(every) else f"{len(cases)} cases")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ended = pool.map(rehearse, [
                ["plimsoll", "rehearse", f"--gpu={option(start, 'gpu')}",
                 f"--capacity={mib + elsewhere_mib()}MiB", "--no-retry",
                 "--accept=tight",  # it lives: the room left is not what is asked
                 *([] if conf == "default" else [f"--conf={conf}"]), *program]
                for conf, mib, _ in cases])
            for (conf, mib, said), (text, status) in zip(cases, ended):
                with self.subTest(conf=conf, mib=mib):
                    self.assertIn(status, (0, 1), text)
                    self.assertEqual("dies" if status else "lives", said)


if __name__ == "__main__":
    rehearsals = sys.argv[2:] == ["rehearsals"]
    if rehearsals and not os.access(PYTHON, os.X_OK):
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch (tools/torch-python)")
        sys.exit(77)
    name = "Rehearsals" if rehearsals else "Recordings"
    unittest.main(argv=[sys.argv[0], name])
