#!/usr/bin/env python3
"""test_cli.py PLIMSOLL - the command as people and scripts meet it: streams, exit statuses, terminals.

Runs from the top of the tree. What pages say is tested by the report's golden files; here it is
how the command behaves around them.
"""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
RECORDINGS = "tests/data/recordings"
TRAIN = f"{RECORDINGS}/train_gpt.pickle"
OOM = f"{RECORDINGS}/out_of_memory.pickle"
TWO_DEVICES = f"{RECORDINGS}/two_devices.pickle.gz"
ESCAPE = "\033["


def run(*arguments, stdin=b"", stdout=subprocess.PIPE, **environment):
    """The finished process; its streams as text. Variables that decide on looks are cleared."""
    clean = {key: value for key, value in os.environ.items()
             if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "PLIM_BLESS")}
    done = subprocess.run([PLIMSOLL, *arguments], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                          env={**clean, "LC_ALL": "C.UTF-8", **environment}, timeout=60, check=False)
    done.stdout = (done.stdout or b"").decode()
    done.stderr = done.stderr.decode()
    return done


def run_on_terminal(*arguments, **environment):
    """What a terminal of 80 columns is sent."""
    try:
        control, terminal = pty.openpty()
    except OSError as error:  # a chroot or container without /dev/pts
        raise unittest.SkipTest(f"no pseudo-terminal: {error}") from error
    try:
        import fcntl
        import struct
        import termios
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        child = subprocess.Popen([PLIMSOLL, *arguments], stdin=subprocess.DEVNULL, stdout=terminal,
                                 stderr=subprocess.DEVNULL,
                                 env={"PATH": "/", "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        os.close(terminal)
        terminal = None
        seen = b""
        while True:
            try:
                piece = os.read(control, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        child.wait(timeout=60)
        return seen.decode()
    finally:
        os.close(control)
        if terminal is not None:
            os.close(terminal)


class Cli(unittest.TestCase):
    def expect(self, done, status, stderr_lines=0):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), stderr_lines, done.stderr)
        return done

    # --- the front door

    def test_no_command_is_a_usage_error(self):
        self.expect(run(), 2, 1)

    def test_unknown_commands_get_a_suggestion(self):
        for typo in ("inspct", "insp", "Inspect", "inpsect"):
            self.assertIn('did you mean "plimsoll inspect"?', self.expect(run(typo), 2, 2).stderr)
        self.assertNotIn("did you mean", self.expect(run("zzz"), 2, 2).stderr)
        self.assertNotIn("did you mean", self.expect(run("x" * 1000), 2, 2).stderr)

    def test_unknown_commands_are_shown_harmlessly(self):
        self.assertNotIn("\033", run("\033[31mred").stderr)

    def test_help_lists_commands(self):
        for arguments in (("help",), ("--help",), ("-h",)):
            self.assertRegex(self.expect(run(*arguments), 0).stdout, r"(?m)^  inspect +where")

    def test_help_of_a_command(self):
        pages = {self.expect(run(*words), 0).stdout
                 for words in (("help", "inspect"), ("inspect", "--help"), ("inspect", "-h"))}
        self.assertEqual(len(pages), 1)
        self.expect(run("help", "nonsense"), 2, 2)

    def test_version(self):
        for option in ("--version", "-V"):
            self.assertRegex(self.expect(run(option), 0).stdout, r"^plimsoll \d+\.\d+\.\d+\n$")

    # --- arguments of inspect

    def test_wrong_usage(self):
        for words in ((), ("--nonsense", TRAIN), ("--top", "0", TRAIN), ("--top", "x", TRAIN),
                      ("--top", "1x", TRAIN), ("--top", "99999999999999999999", TRAIN), ("--top",),
                      ("--color", "blue", TRAIN), ("--width", "10", TRAIN), ("--device", "-2", TRAIN),
                      ("--frames", "0", TRAIN)):
            done = run("inspect", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.startswith("plimsoll inspect: "), done.stderr)

    def test_options_may_stand_behind_files(self):
        self.assertEqual(self.expect(run("inspect", TRAIN, "--json"), 0).stdout,
                         self.expect(run("inspect", "--json", TRAIN), 0).stdout)

    def test_only_one_device(self):
        document = json.loads(self.expect(run("inspect", "--json", "--device", "1", TWO_DEVICES), 0).stdout)
        self.assertEqual([one["device"] for one in document["files"][0]["devices"]], [1])
        page = self.expect(run("inspect", "--device", "1", TWO_DEVICES), 0).stdout
        self.assertIn("GPU 1:", page)
        self.assertNotIn("GPU 0", page)
        self.assertIn("no device 7", self.expect(run("inspect", "--device=7", TWO_DEVICES), 0).stdout)

    def test_lines_keep_to_the_width(self):
        for width in (60, 80, 133):
            page = self.expect(run("inspect", f"--width={width}", "--all-frames", OOM), 0).stdout
            self.assertLessEqual(max(map(len, page.splitlines())), width)

    # --- input

    def test_standard_input(self):
        with open(OOM, "rb") as file:
            data = file.read()
        piped = self.expect(run("inspect", "-", stdin=data), 0).stdout
        named = self.expect(run("inspect", OOM), 0).stdout
        self.assertEqual(piped.splitlines()[0], "standard input")
        self.assertEqual(piped.splitlines()[1:], named.splitlines()[1:])

    def test_files_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            contents = {"empty": b"", "text": b"hello\n", "pickle": b"\x80\x04", "json": b'{"a": [',
                        "hostile": b"\x80\x04cos\nsystem\n(S'id'\ntR."}
            paths = [folder, os.path.join(folder, "missing")]
            for name, data in contents.items():
                paths.append(os.path.join(folder, name))
                with open(paths[-1], "wb") as file:
                    file.write(data)
            for path in paths:
                done = self.expect(run("inspect", path), 3, 1)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith("plimsoll inspect: "), done.stderr)
                self.assertEqual(done.stderr.count(path), 1, done.stderr)
        self.expect(run("inspect", "-"), 3, 1)
        self.expect(run("inspect", ""), 3, 1)

    def test_the_wrong_kind_of_file_gets_a_pointer(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "train.log")
            with open(log, "w", encoding="utf-8") as file:
                file.write("cuda is there\nCUDA out of memory. Tried to allocate 2.00 GiB\n")
            subprocess.run(["gzip", "-k", log], check=True)
            for command in ("inspect", "replay", "tune"):
                for path in (log, log + ".gz"):
                    done = self.expect(run(command, path), 3, 1)
                    self.assertIn('"plimsoll explain" reads logs', done.stderr)
            recording = os.path.join(folder, "run.plim")
            run("replay", "--quick", "-o", recording, OOM)
            for path, kind in ((OOM, "pickle"), (TWO_DEVICES, "pickle"), (recording, "recording")):
                for option in ("--all", "--trend"):
                    done = self.expect(run("explain", option, path), 3, 1)
                    self.assertIn(f'this is a {kind}, not a text: "plimsoll inspect"', done.stderr)
            with open(OOM, "rb") as file:
                self.expect(run("explain", "-", stdin=file.read()), 3, 1)

    def test_a_hostile_name_is_shown_harmlessly(self):
        done = self.expect(run("inspect", "no\033]0;title\a\nsuch"), 3, 1)
        self.assertNotRegex(done.stderr, r"[\x00-\x09\x0b-\x1f\x7f]")

    def test_a_bad_file_does_not_hide_the_good_ones(self):
        done = self.expect(run("inspect", TRAIN, "missing_rank7.pickle", OOM), 3, 1)
        self.assertIn("Skew", done.stdout)
        self.assertIn("1 could not be read", done.stdout)
        done = self.expect(run("inspect", "--json", TRAIN, "missing_rank7.pickle"), 3, 1)
        good, bad = json.loads(done.stdout)["files"]
        self.assertEqual(len(good["devices"]), 1)
        self.assertEqual(bad["error"]["status"], "PLIM_IO")
        self.assertIn("missing_rank7", bad["error"]["message"])

    # --- the document

    def test_the_document_has_what_is_promised(self):
        document = json.loads(self.expect(run("inspect", "--json", OOM), 0).stdout)
        self.assertEqual(document["schema"], "inspect/1")
        file = document["files"][0]
        for member in ("file", "format", "compression", "generation", "pickle_protocol", "settings",
                       "anomalies", "warnings", "devices"):
            self.assertIn(member, file)
        device = file["devices"][0]
        for member in ("device", "events", "events_by_action", "events_without_stack", "truncated",
                       "truncated_because", "late_start", "duration_us", "start", "end", "peak", "ooms",
                       "pools", "timeline"):
            self.assertIn(member, device)
        self.assertEqual(sum(device["events_by_action"].values()), device["events"])
        for moment, key in ((device["peak"], "requested_bytes"),
                            (device["ooms"][0], "live_requested_bytes")):
            self.assertEqual(sum(group["bytes"] for group in moment["by_stack"]), moment[key])
            self.assertEqual(sum(group["count"] for group in moment["by_stack"]), moment["live_count"])
            sizes = [group["bytes"] for group in moment["by_stack"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(sum(pool["reserved_bytes"] for pool in device["pools"]),
                         device["end"]["reserved_bytes"])

    def test_the_same_bytes_each_time(self):
        for words in (("--json",), ()):
            self.assertEqual(len({run("inspect", *words, OOM).stdout for _ in range(5)}), 1)

    def test_several_files_are_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for rank, recording in ((11, TRAIN), (2, OOM)):
                paths.append(os.path.join(folder, f"snapshot_rank{rank}.pickle"))
                os.symlink(os.path.abspath(recording), paths[-1])
            document = json.loads(self.expect(run("inspect", "--json", *paths), 0).stdout)
            page = self.expect(run("inspect", *paths), 0).stdout
        ranks = document["ranks"]
        self.assertEqual([row["rank"] for row in ranks["rows"]], [2, 11])
        self.assertEqual(ranks["skew"]["peak_requested"]["rank_of_max"], 2)
        self.assertIn("rank 2 has", page)

    # --- output

    def test_a_reader_that_leaves_is_noticed(self):
        for words in (("--json",), ()):
            reader, writer = os.pipe()
            os.close(reader)
            try:
                done = run("inspect", *words, OOM, stdout=writer)
            finally:
                os.close(writer)
            self.expect(done, 3, 1)
            self.assertIn("standard output", done.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_full_disk_is_noticed(self):
        for words in (("inspect", "--json", OOM), ("inspect", OOM), ("help",), ("--version",),
                      ("inspect", "--help")):
            with open("/dev/full", "wb") as full:
                done = run(*words, stdout=full)
            self.expect(done, 3, 1)
            self.assertIn("No space left", done.stderr)

    def test_a_closed_output_is_noticed(self):
        done = subprocess.run(["sh", "-c", '"$0" inspect "$1" >&-', PLIMSOLL, OOM],
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 3)

    def test_colour_follows_the_terminal(self):
        self.assertNotIn(ESCAPE, run("inspect", OOM).stdout)
        self.assertIn(ESCAPE, run("inspect", "--color=always", OOM).stdout)
        self.assertIn(ESCAPE, run("inspect", "--color=always", OOM, NO_COLOR="1").stdout)
        self.assertIn(ESCAPE, run_on_terminal("inspect", OOM))
        self.assertIn(ESCAPE, run_on_terminal("inspect", OOM, NO_COLOR=""))
        self.assertNotIn(ESCAPE, run_on_terminal("inspect", OOM, NO_COLOR="1"))
        self.assertNotIn(ESCAPE, run_on_terminal("inspect", OOM, TERM="dumb"))
        self.assertNotIn(ESCAPE, run_on_terminal("inspect", "--color=never", OOM))

    def test_the_page_fits_the_terminal(self):
        page = re.sub(r"\033\[[0-9;]*m", "", run_on_terminal("inspect", OOM))
        self.assertLessEqual(max(map(len, page.splitlines())), 80)

    def test_ascii_where_the_locale_says_so(self):
        self.assertTrue(run("inspect", OOM, LC_ALL="C").stdout.isascii())
        self.assertFalse(run("inspect", OOM).stdout.isascii())


if __name__ == "__main__":
    unittest.main(verbosity=2)  # so that the reasons of skipped tests are printed
