#!/usr/bin/env python3
"""test_command.py PLIMSOLL - the command as the package runs it: both outputs of one run, its end, its pipes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import session  # noqa: F401 (puts the package into sys.path)
from plimsoll import _child, _command
from plimsoll.errors import CommandError, InputError, UsageError

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OOM = os.path.join(TOP, "tests/data/recordings/out_of_memory.pickle")
LOG = os.path.join(TOP, "tests/data/messages/leak.log")
WAIT = 30  # seconds until a test gives up


def lives(pid):
    """A process that runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition):
    for _ in range(WAIT * 100):
        if condition():
            return True
        time.sleep(0.01)
    return False


def open_files():
    return sorted(os.listdir("/proc/self/fd"))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with blank ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.use(PLIMSOLL)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def use(self, command):
        patch = mock.patch.dict(os.environ, {"PLIMSOLL_COMMAND": command})
        patch.start()
        self.addCleanup(patch.stop)

    def path(self, name):
        return os.path.join(self.folder, name)

    def use_script(self, body):
        """A shell script in place of the command; `$page` is the path for the page."""
        with open(self.path("plimsoll"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nfor word; do case $word in --page=*) page=${word#--page=};; esac; done\n"
                       f"folder='{self.folder}'\n{body}\n")
        os.chmod(self.path("plimsoll"), 0o700)
        self.use(self.path("plimsoll"))

    def pid_in(self, name):
        self.assertTrue(until(lambda: os.path.exists(self.path(name)) and os.path.getsize(self.path(name))))
        with open(self.path(name), encoding="utf-8") as file:
            return int(file.read())


class Answers(Case):
    def test_document_and_page_are_of_one_run(self):
        answer = _command.call(["inspect", OOM])
        command = [PLIMSOLL, "inspect", OOM]
        self.assertEqual(answer.document, json.loads(subprocess.check_output([*command, "--json"])))
        self.assertEqual(answer.page.encode(),
                         subprocess.check_output([*command, "--color=always", "--width=96"]))
        self.assertEqual((answer.status, answer.said), (0, ""))

    def test_an_object_shows_its_page(self):
        import plimsoll

        found = plimsoll.inspect(OOM)
        page = subprocess.check_output([PLIMSOLL, "inspect", OOM, "--width=96"]).decode().rstrip("\n")
        self.assertEqual(str(found), page)
        with mock.patch.object(sys, "stdout", None):
            self.assertEqual(repr(found), page)
        self.assertIn('<pre class="plimsoll-page">', found._repr_html_())
        self.assertNotIn("\033", found._repr_html_())

    def test_the_width_of_the_page_can_be_chosen(self):
        page = _command.call(["inspect", "--width=70", OOM]).page
        self.assertEqual(page.encode(), subprocess.check_output(
            [PLIMSOLL, "inspect", "--color=always", "--width=70", OOM]))

    def test_text_is_standard_input(self):
        with open(LOG, encoding="utf-8") as file:
            text = file.read()
        for given in (text, text.encode(), bytearray(text.encode())):
            document = _command.call(["explain"], given).document
            self.assertEqual(document["files"][0]["bytes"], len(text.encode()))

    def test_any_text_is_taken(self):
        for text in ("\ud800 half a character", "\udcff a byte", "\0", "", "ä" * _child.PIECE):
            self.assertEqual(_command.call(["explain"], text).document["schema"], "explain/1")

    def test_a_large_text_is_not_copied(self):
        import resource

        text = ("x" * 99 + "\n") * 2_000_000
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        document = _command.call(["explain"], text).document
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertEqual(document["files"][0]["bytes"], len(text))
        self.assertLess(grown * 1024, len(text) / 4)

    def test_a_text_that_is_not_read_is_no_failure(self):
        answer = _command.call(["inspect", OOM], "x" * (4 << 20))
        self.assertEqual(answer.document["schema"], "inspect/1")

    def test_an_answer_that_is_no_success_has_its_status(self):
        answer = _command.call(["diagnose", "--budget=0", "--fail-on=peak>1KiB", OOM])
        self.assertEqual(answer.status, 1)
        self.assertIn("exceeds", answer.said)

    def test_a_program_keeps_its_words(self):
        self.use_script('echo "{\\"words\\": \\"$*\\"}"')
        words = _command.call(["run", "--all", "--", "prog", "--json"]).document["words"]
        ours, _, program = words.partition(" -- ")
        self.assertEqual(program, "prog --json")
        self.assertIn("--json --page=", ours)

    def test_no_descriptor_stays_open(self):
        before = open_files()
        _command.call(["inspect", OOM])
        with self.assertRaises(UsageError):
            _command.call(["inspect", "--nonsense"])
        self.use(self.path("absent"))
        self.assertEqual(open_files(), before)


class Errors(Case):
    def test_wrong_usage(self):
        with self.assertRaisesRegex(UsageError, r"\A(?!.*information).*takes a number from 1"):
            _command.call(["inspect", "--top=0", OOM])

    def test_an_input_that_cannot_be_read(self):
        self.use_script("echo 'plimsoll inspect: it is torn' >&2; exit 3")
        with self.assertRaisesRegex(InputError, "it is torn"):
            _command.call(["inspect", "x"])

    def test_a_command_that_cannot_be_run(self):
        self.use_script("exit 0")
        with open(self.path("plimsoll"), "w", encoding="utf-8") as file:
            file.write("#!/nonexistent/interpreter\n")
        before = open_files()
        with self.assertRaisesRegex(CommandError, "cannot be run"):
            _command.call(["inspect", "x"])
        self.assertEqual(open_files(), before)

    def test_a_command_that_is_killed(self):
        self.use_script("kill -KILL $$")
        with self.assertRaises(CommandError) as caught:
            _command.call(["inspect", "x"])
        self.assertEqual(caught.exception.status, -signal.SIGKILL)

    def test_the_interrupt_of_the_command_is_ours(self):
        self.use_script("kill -INT $$")
        with self.assertRaises(KeyboardInterrupt):
            _command.call(["inspect", "x"])


class Pipes(Case):
    """No side waits for the other for ever, and none has to be read in an order."""

    def test_all_outputs_at_once_and_full(self):
        self.use_script("""
            head -c 3000000 /dev/zero | tr '\\0' 'e' >&2
            head -c 3000000 /dev/zero | tr '\\0' 'p' >"$page"
            printf '{"long": "'; head -c 3000000 /dev/zero | tr '\\0' 'd'; printf '"}'
            cat >/dev/null""")
        answer = _command.call(["explain"], "x" * 3_000_000)
        self.assertEqual((len(answer.document["long"]), answer.page), (3_000_000, "p" * 3_000_000))

    def test_of_a_long_error_output_the_end_is_kept(self):
        self.use_script("yes 'a line' | head -n 1000000 >&2; echo the last >&2; echo '{}'")
        said = _command.call(["inspect", "x"]).said
        self.assertLessEqual(len(said), 2 * _child.TAIL)
        self.assertTrue(said.startswith("a line\n") and said.endswith("a line\nthe last\n"))

    def test_a_process_that_stays_holds_nothing_up(self):
        self.use_script('sleep 600 & echo $! >"$folder/pid"; echo "{\\"a\\": 1}"; echo page >"$page"')
        answer = _command.call(["inspect", "x"])
        os.kill(self.pid_in("pid"), signal.SIGKILL)
        self.assertEqual((answer.document, answer.page), ({"a": 1}, "page\n"))

    def test_a_process_that_stays_and_talks_holds_nothing_up(self):
        self.use_script('yes >&2 & echo $! >"$folder/pid"; echo "{}"')
        self.assertEqual(_command.call(["inspect", "x"]).document, {})
        os.kill(self.pid_in("pid"), signal.SIGKILL)

    def test_a_fork_of_another_thread_holds_nothing_up(self):
        started = []

        def popen(*words, **more):
            started.append(os.fork())  # with all ends of the pipes
            if started[-1] == 0:
                signal.pause()
                os._exit(0)
            return subprocess_popen(*words, **more)

        subprocess_popen = subprocess.Popen
        with mock.patch.object(_child.subprocess, "Popen", popen):
            document = _command.call(["inspect", OOM]).document
        os.kill(started[0], signal.SIGKILL)
        os.waitpid(started[0], 0)
        self.assertEqual(document["schema"], "inspect/1")

    def test_many_threads_at_once(self):
        documents = []
        threads = [threading.Thread(target=lambda: documents.append(
            _command.call(["explain"], "x" * 300_000 + "\n").document)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        self.assertEqual([one["files"][0]["bytes"] for one in documents], [300_001] * 16)


class Interrupts(Case):
    """An exception in the caller ends the command and what it has started."""

    def interrupt_when(self, name):
        """As Ctrl-C does, once the file is there."""
        main = threading.main_thread().ident

        def send():
            if until(lambda: os.path.exists(self.path(name)) and os.path.getsize(self.path(name))):
                signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)

    def test_the_command_and_its_children_end(self):
        self.use_script("""
            trap '' TERM
            echo $$ >"$folder/command"
            sh -c 'trap "" TERM; echo $$ >"$0/child"; while :; do sleep 1; done' "$folder" &
            wait""")
        before = open_files()
        self.interrupt_when("child")
        with mock.patch.object(_child, "GRACE", 0.05), self.assertRaises(KeyboardInterrupt):
            _command.call(["rehearse"])
        for name in ("command", "child"):
            self.assertTrue(until(lambda name=name: not lives(self.pid_in(name))), name)
        self.assertEqual(open_files(), before)

    def test_a_command_that_is_just_starting_ends_too(self):
        self.use_script('echo $$ >"$folder/command"; exec sleep 600')
        started = subprocess.Popen

        def popen(*words, **more):
            process = started(*words, **more)
            self.pid_in("command")
            signal.raise_signal(signal.SIGINT)  # before its object is there
            return process

        with mock.patch.object(_child.subprocess, "Popen", popen), \
                self.assertRaises(KeyboardInterrupt):
            _command.call(["inspect", "x"])
        self.assertTrue(until(lambda: not lives(self.pid_in("command"))))
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_a_program_that_the_command_runs_ends(self):
        self.interrupt_when("program")
        with self.assertRaises(KeyboardInterrupt):
            _command.call(["run", f"--output={self.path('run')}", "--", "sh", "-c",
                           f"echo $$ >'{self.path('program')}'; exec sleep 600"])
        self.assertTrue(until(lambda: not lives(self.pid_in("program"))))

    def test_a_program_that_does_not_listen_ends_too(self):
        self.interrupt_when("program")
        with mock.patch.object(_child, "GRACE", 0.3), self.assertRaises(KeyboardInterrupt):
            _command.call(["run", f"--output={self.path('run')}", "--", "sh", "-c",
                           f"trap '' TERM; echo $$ >'{self.path('program')}'; while :; do sleep 1; done"])
        self.assertTrue(until(lambda: not lives(self.pid_in("program"))))

    def test_an_exception_ends_it(self):
        self.use_script('echo $$ >"$folder/command"; echo out; exec sleep 600')
        with mock.patch.object(_child.Tail, "take", side_effect=MemoryError), \
                mock.patch.object(_child.Child, "_read", side_effect=MemoryError), \
                self.assertRaises(MemoryError):
            _command.call(["inspect", "x"])
        self.assertTrue(until(lambda: not lives(self.pid_in("command"))))


class Progress(Case):
    """The lines of a command whose work takes long."""

    def test_the_command_sends_lines(self):
        """Through the real command, whose standard input stays open for as long as it takes."""
        reader, writer = os.pipe()
        lines, lines_to = os.pipe()
        done = subprocess.Popen([PLIMSOLL, "explain", "-"], stdin=reader, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, pass_fds=[lines_to],
                                env={**os.environ, "PLIMSOLL_PROGRESS_FD": str(lines_to)})
        os.close(reader)
        os.close(lines_to)
        os.set_blocking(lines, False)
        seen = b""
        with open(writer, "wb", buffering=0) as text:
            for _ in range(WAIT * 10):
                text.write(b"nothing\n" * 1000)
                time.sleep(0.1)
                try:
                    seen += os.read(lines, 1000)
                except BlockingIOError:
                    continue
                if seen:
                    break
        done.wait(WAIT)
        os.set_blocking(lines, True)
        with open(lines, "rb") as rest:
            seen += rest.read()
        self.assertRegex(seen.decode(), r"\A(\d+ 0 bytes reading [^\n]+\n)+\n\Z")

    def test_a_program_has_neither_variable_nor_descriptor(self):
        lines, lines_to = os.pipe()
        done = subprocess.run([PLIMSOLL, "explain", "--", "sh", "-c",
                               f"echo ${{PLIMSOLL_PROGRESS_FD-unset}}; ls /proc/self/fd/{lines_to}"],
                              capture_output=True, pass_fds=[lines_to], timeout=WAIT, check=False,
                              env={**os.environ, "PLIMSOLL_PROGRESS_FD": str(lines_to)})
        os.close(lines)
        os.close(lines_to)
        self.assertEqual(done.stdout, b"unset\n")

    def test_what_is_no_descriptor_is_ignored(self):
        for value in ("", "x", "-1", "0", "1", "2", "999", "99999999999999999999", "3x"):
            done = subprocess.run([PLIMSOLL, "inspect", OOM], capture_output=True, timeout=WAIT,
                                  check=False, env={**os.environ, "PLIMSOLL_PROGRESS_FD": value})
            self.assertEqual((done.returncode, done.stderr), (0, b""), value)


if __name__ == "__main__":
    unittest.main()
