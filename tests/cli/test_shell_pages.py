#!/usr/bin/env python3
"""test_shell_pages.py PLIMSOLL PAGES - man pages and completions say what the help says.

Both are made when the project is built (cmake/pages.sh). Completions are run in bash, and in zsh
and fish where they are installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PLIMSOLL, PAGES = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


COMMANDS = re.findall(r"^  (\w+) ", run(PLIMSOLL, "--help"), re.M)
HELP = {command: run(PLIMSOLL, command, "--help") for command in COMMANDS}
OPTIONS = {command: re.findall(r"^ +(?:-\w, )?--([\w-]+)(=?)", text, re.M) for command, text in HELP.items()}


def complete(line):
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    script = (f"source '{PAGES / 'plimsoll.bash'}'; compopt() {{ :; }}; COMP_CWORD={len(words) - 1}; "
              f"COMP_WORDS=({' '.join(repr(word) for word in words)}); _plimsoll; echo \"${{COMPREPLY[*]}}\"")
    return run("bash", "-c", script).split()


class Pages(unittest.TestCase):
    def test_there_are_commands_and_options(self):
        self.assertGreaterEqual(len(COMMANDS), 5)
        for command in COMMANDS:
            self.assertGreater(len(OPTIONS[command]), 5, command)

    def test_bash_offers_commands(self):
        self.assertEqual(complete("plimsoll ins"), ["inspect"])
        self.assertLess(set(COMMANDS), set(complete("plimsoll ")))
        self.assertEqual(complete("plimsoll help re"), ["rehearse", "replay"])

    def test_bash_offers_the_options_of_each_command(self):
        for command in COMMANDS:
            self.assertEqual(complete(f"plimsoll {command} --"),
                             [f"--{name}{value}" for name, value in OPTIONS[command]])
        self.assertEqual(complete("plimsoll inspect --all"), ["--all-frames"])

    def test_bash_leaves_files_and_commands_of_the_user_alone(self):
        self.assertEqual(complete("plimsoll inspect sna"), [])
        self.assertEqual(complete("plimsoll rehearse --gpu=h100 -- --"), [])

    def test_zsh_and_fish_have_every_option(self):
        zsh = (PAGES / "_plimsoll").read_text()
        fish = (PAGES / "plimsoll.fish").read_text()
        for command in COMMANDS:
            section = re.search(rf"^    {command}\)\n(.*?);;", zsh, re.S | re.M)[1]
            for name, value in OPTIONS[command]:
                self.assertRegex(section, rf"'--{name}{value}\[")
                self.assertRegex(fish, rf"(?m)^complete -c plimsoll -n '__fish_seen_subcommand_from "
                                       rf"{command}' -l {name}{' -r' if value else ''} -d '")

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_file(self):
        run("zsh", "-n", PAGES / "_plimsoll")

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        offered = run("fish", "--no-config", "-c",
                      f"source '{PAGES / 'plimsoll.fish'}'; complete -C 'plimsoll inspect --all'")
        self.assertIn("--all-frames", offered)

    def test_man_pages_have_every_option_and_example(self):
        for command in COMMANDS:
            page = (PAGES / f"plimsoll-{command}.1").read_text().replace("\\-", "-")
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                            "SEE ALSO"):
                self.assertEqual(page.count(f".SH {section}\n"), 1, f"{command}: {section}")
            for name, value in OPTIONS[command]:
                self.assertRegex(page, rf"(?m)^\.B (?:-\w, )?--{name}{value}", command)
            for example in re.findall(r"^  (plimsoll .*)$", HELP[command], re.M):
                self.assertIn(f".B {example}\n", page)
            said = " ".join(re.sub(r"^\.\w+ ?", "", page, flags=re.M).split())
            for text in re.findall(r"^ +(?:-\w, )?--\S+ +(\S.*)$", HELP[command], re.M):
                self.assertIn(text, said, command)
        self.assertEqual(re.findall(r"^\.B (\w+)$", (PAGES / "plimsoll.1").read_text(), re.M), COMMANDS)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_roff_has_no_complaints(self):
        for page in sorted(PAGES.glob("*.1")):
            done = subprocess.run(["groff", "-man", "-Kutf8", "-Tutf8", "-ww", page], check=True,
                                  capture_output=True, text=True)
            self.assertEqual(done.stderr, "", page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
