#!/usr/bin/env python3
"""test_launch.py CHILD_TOOL PLIMSOLL - a command run by us behaves as if run without us.

Most of it asks launch_tool, which is plim_launch() with an explainer that keeps what it is fed;
the end asks `plimsoll explain -- COMMAND` itself.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import pty
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tty
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
PLIMSOLL = os.path.abspath(sys.argv.pop(1))
PYTHON = sys.executable
SECONDS = 60  # for what takes none: a machine may be busy
# Sleeps in Python until a signal comes. In one long sleep, the handler of a signal that comes just
# before it would wait for its end.
IDLE = "for _ in range(6000): time.sleep(0.01)"


def open_pty(rows=24, columns=80):
    try:
        control, terminal = pty.openpty()
    except OSError as error:  # a chroot or container without /dev/pts
        raise unittest.SkipTest(f"no pseudo-terminal: {error}") from error
    set_size(terminal, rows, columns)
    return control, terminal


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_until(fd, wanted, seconds=SECONDS):
    """What comes from fd until it holds `wanted` (None: until its end)."""
    seen = b""
    end = time.monotonic() + seconds
    while wanted is None or wanted not in seen:
        left = end - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise AssertionError(f"no {wanted!r} after {seconds} s, only {seen[-2000:]!r}")
        try:
            piece = os.read(fd, 1 << 16)
        except OSError as error:  # a terminal whose other end is closed
            if error.errno != errno.EIO:
                raise
            piece = b""
        if not piece:
            if wanted is None:
                return seen
            raise AssertionError(f"the end before {wanted!r}: {seen[-2000:]!r}")
        seen += piece
    return seen


def python(code):
    return [PYTHON, "-c", code]


class ChildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.result_path = os.path.join(folder.name, "result")
        self.fed_path = os.path.join(folder.name, "fed")
        self.folder = folder.name

    def words(self, *command, fail_at=0):
        return [TOOL, self.result_path, self.fed_path, str(fail_at), *command]

    def start(self, *command, fail_at=0, **options):
        child = subprocess.Popen(self.words(*command, fail_at=fail_at), **options)

        def end():
            if child.poll() is None:
                child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream:
                    stream.close()
        self.addCleanup(end)
        return child

    def wait_for(self, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def run_child(self, *command, fail_at=0, stdin=b"", **options):
        return subprocess.run(self.words(*command, fail_at=fail_at), input=stdin, capture_output=True,
                              timeout=SECONDS, check=False, **options)

    def result(self):
        with open(self.result_path, encoding="utf-8") as file:
            return json.load(file)

    def fed(self):
        with open(self.fed_path, "rb") as file:
            return file.read()


class Statuses(ChildTest):
    def test_exit_codes_are_kept(self):
        for code in (0, 1, 2, 3, 42, 126, 127, 255):
            self.assertEqual(self.run_child("sh", "-c", f"exit {code}").returncode, code)
            result = self.result()
            self.assertEqual((result["was_started"], result["exit_status"], result["signal"]),
                             (1, code, 0))

    def test_death_by_signal_is_128_and_its_number(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGHUP, signal.SIGPIPE):
            done = self.run_child(*python(f"""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal({int(number)}, signal.SIG_DFL) if {int(number)} != 9 else None
os.kill(os.getpid(), {int(number)})"""))
            self.assertEqual(done.returncode, 128 + number)
            result = self.result()
            self.assertEqual(result["signal"], number)
            self.assertEqual(result["was_killed"], int(number == signal.SIGKILL))

    def test_a_shell_that_tells_of_a_kill_counts_as_killed(self):
        self.assertEqual(self.run_child("sh", "-c", "sh -c 'kill -9 $$'; exit $?").returncode, 137)
        result = self.result()
        self.assertEqual((result["signal"], result["was_killed"]), (0, 1))

    def test_commands_that_are_not_there(self):
        for name in ("no-such-command-1b2", "/no/such/file", ""):
            done = self.run_child(name)
            self.assertEqual(done.returncode, 127)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(name.encode(), done.stderr)
            self.assertEqual(self.result()["was_started"], 0)

    def test_a_folder_of_path_that_cannot_be_searched_changes_nothing(self):
        # execvp() fails with EACCES where a folder of PATH is closed to the user, and for root
        # where a folder bears the command's name.
        closed = os.path.join(self.folder, "closed")
        os.makedirs(os.path.join(closed, "no-such-command-1b2"))
        os.chmod(closed, 0o700 if os.getuid() == 0 else 0)
        self.addCleanup(os.chmod, closed, 0o700)
        path = f"{closed}:{os.environ['PATH']}"
        done = self.run_child("no-such-command-1b2", env={**os.environ, "PATH": path})
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"cannot find the command", done.stderr)
        plain = os.path.join(self.folder, "plain-1b2")
        with open(plain, "w", encoding="utf-8") as file:
            file.write("no program")
        done = self.run_child("plain-1b2", env={**os.environ, "PATH": f"{path}:{self.folder}"})
        self.assertEqual(done.returncode, 126, done.stderr)

    def test_commands_that_cannot_be_executed(self):
        plain = os.path.join(self.folder, "plain")
        with open(plain, "w", encoding="utf-8") as file:
            file.write("no program")
        for name in (plain, self.folder):
            done = self.run_child(name)
            self.assertEqual(done.returncode, 126, name)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_no_descriptors_left_is_one_line_and_3(self):
        done = self.run_child("true", preexec_fn=lambda: __import__("resource").setrlimit(
            __import__("resource").RLIMIT_NOFILE, (4, 4)))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Bytes(ChildTest):
    def test_both_streams_are_passed_on_untouched(self):
        every = bytes(range(256)) * 3
        done = self.run_child(*python("""
import os
data = bytes(range(256)) * 3
os.write(1, data); os.write(2, data[::-1])"""))
        self.assertEqual(done.stdout, every)
        self.assertEqual(done.stderr, every[::-1])

    def test_fifty_megabytes_on_both(self):
        done = self.run_child(*python("""
import random, sys, threading
def write(stream, seed):
    data = random.Random(seed).randbytes(1 << 20)
    for i in range(50):
        stream.write(data[i:] + data[:i])
    stream.flush()
threads = [threading.Thread(target=write, args=(s.buffer, n))
           for n, s in enumerate((sys.stdout, sys.stderr))]
[t.start() for t in threads]; [t.join() for t in threads]"""))
        import random
        for seed, stream in enumerate((done.stdout, done.stderr)):
            data = random.Random(seed).randbytes(1 << 20)
            want = hashlib.sha256()
            for i in range(50):
                want.update(data[i:] + data[:i])
            self.assertEqual(hashlib.sha256(stream).digest(), want.digest())
        self.assertEqual(done.returncode, 0)

    def test_a_stream_nobody_reads_does_not_hold_up_the_other(self):
        child = self.start(*python("""
import os, threading
threading.Thread(target=os.write, args=(1, b"x" * 5000000), daemon=True).start()
for i in range(100): os.write(2, b"y" * 10000)
os.write(2, b"done")
import time; time.sleep(60)"""), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(len(read_until(child.stderr.fileno(), b"done")), 1000004)

    def test_a_file_takes_both_in_order(self):
        path = os.path.join(self.folder, "log")
        with open(path, "wb") as log:
            log.write(b"before\n")
            log.flush()
            subprocess.run(self.words("sh", "-c", "for i in 1 2 3; do echo $i; echo e$i >&2; done"),
                           stdout=log, stderr=subprocess.STDOUT, timeout=SECONDS, check=True)
            log.write(b"after\n")
        with open(path, "rb") as log:
            self.assertEqual(log.read(), b"before\n1\ne1\n2\ne2\n3\ne3\nafter\n")

    def test_one_pipe_takes_both_in_order(self):
        done = subprocess.run(self.words("sh", "-c", "for i in 1 2 3; do echo $i; echo e$i >&2; done"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                              check=True)
        self.assertEqual(done.stdout, b"1\ne1\n2\ne2\n3\ne3\n")
        self.assertEqual(self.fed(), done.stdout)

    def test_sockets_and_devices_take_it_too(self):
        ours, theirs = socket.socketpair()
        with ours, theirs, open(os.devnull, "wb") as null:
            child = self.start(*python("import os; [os.write(1, b'x' * 9999) for _ in range(99)]"),
                               stdout=theirs, stderr=null)
            theirs.close()
            self.assertEqual(len(read_until(ours.fileno(), None)), 9999 * 99)
            self.assertEqual(child.wait(SECONDS), 0)

    def test_a_dot_is_seen_at_once(self):
        child = self.start(*python("""
import os, sys
for i in range(5):
    os.write(1, b"."); os.write(2, b"\\r50%")
    sys.stdin.readline()"""), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(5):  # each dot must arrive before the next is asked for
            self.assertEqual(read_until(child.stdout.fileno(), b"."), b".")
            self.assertEqual(read_until(child.stderr.fileno(), b"%"), b"\r50%")
            child.stdin.write(b"\n")
            child.stdin.flush()
        self.assertEqual(child.wait(SECONDS), 0)

    def test_dots_are_not_collected(self):
        child = self.start(*python("""
import os, time
for i in range(10):
    os.write(1, b"."); time.sleep(0.05)"""), stdout=subprocess.PIPE)
        pieces = []
        while piece := os.read(child.stdout.fileno(), 100):
            pieces.append(piece)
        self.assertEqual(b"".join(pieces), b"." * 10)
        self.assertGreater(len(pieces), 5)

    def test_a_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.words("sh", "-c", "while echo x; do :; done; exit 5"),
                                  stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"cannot write standard output: No space left on device", done.stderr)


class Surroundings(ChildTest):
    def test_stdin_is_the_commands(self):
        data = bytes(range(256)) * 4096
        self.assertEqual(self.run_child("cat", stdin=data).stdout, data)
        with open(self.words()[0], "rb") as file:
            want = file.read()
            file.seek(0)
            done = subprocess.run(self.words("cat"), stdin=file, capture_output=True,
                                  timeout=SECONDS, check=True)
            self.assertEqual(done.stdout, want)

    def test_nothing_is_read_ahead_of_the_command(self):
        done = subprocess.run(["sh", "-c", '"$@"; cat', "sh", *self.words("head", "-c", "2")],
                              input=b"abcd", capture_output=True, timeout=SECONDS, check=True)
        self.assertEqual(done.stdout[:2], b"ab")

    def test_environment_folder_and_descriptors_are_unchanged(self):
        code = """
import json, os, signal
print(json.dumps([dict(os.environ), os.getcwd(), sorted(map(int, os.listdir("/proc/self/fd"))),
    [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn", "SigCgt"))],
    os.getpgid(0) == os.getpgid(os.getppid()), os.getsid(0) == os.getsid(os.getppid()),
    os.getpriority(os.PRIO_PROCESS, 0), os.umask(0)]))"""
        read_end, write_end = os.pipe()
        try:
            words = python(code)
            options = {"cwd": self.folder, "env": {"PATH": "/bin:/usr/bin", "A": "1\n2"},
                       "pass_fds": (write_end,), "capture_output": True, "timeout": SECONDS,
                       "check": True, "stdin": subprocess.DEVNULL}
            alone = subprocess.run(words, **options).stdout
            ours = subprocess.run(self.words(*words), **options).stdout
        finally:
            os.close(read_end)
            os.close(write_end)
        self.assertEqual(json.loads(ours), json.loads(alone))

    def test_ignored_signals_stay_ignored(self):
        done = self.run_child("sh", "-c", "kill -HUP $$; echo alive", preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(done.stdout, b"alive\n")

    def test_an_ignored_sigchld_loses_no_status(self):
        done = self.run_child("sh", "-c", "exit 9", preexec_fn=lambda: signal.signal(
            signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 9)

    def test_closed_streams_stay_closed(self):
        code = ("import os\nfor i in 0, 1, 2:\n try: os.fstat(i); is_open = True\n"
                " except OSError: is_open = False\n"
                " open(os.environ['SEEN'], 'a').write(str(int(is_open)))")
        program = os.path.join(self.folder, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(code)
        for closing, want in (("<&-", "011"), (">&-", "101"), ("2>&-", "110"), (">&- 2>&-", "100"),
                              ("<&- >&-", "001"), ("<&- 2>&-", "010")):
            seen = os.path.join(self.folder, "seen" + want)
            line = '"$@" ' + closing
            subprocess.run(["sh", "-c", line, "sh", *self.words("sh", "-c", "exec \"$0\" -S \"$1\"",
                                                                PYTHON, program)],
                           env={**os.environ, "SEEN": seen}, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS,
                           check=False)
            with open(seen, encoding="utf-8") as file:
                self.assertEqual(file.read(), want, closing)

    def test_a_reader_that_left_is_gone_for_the_command_too(self):
        child = self.start("sh", "-c", "trap '' USR1; echo 1; read x; echo 2; echo 3; echo end >&2",
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        read_until(child.stdout.fileno(), b"1\n")
        child.stdout.close()
        time.sleep(0.3)  # ours to notice: the next write of the command is to fail
        child.stdin.write(b"\n")
        child.stdin.flush()
        self.assertEqual(child.wait(SECONDS), 128 + signal.SIGPIPE)
        self.assertEqual(child.stderr.read(), b"")

    def test_endless_output_ends_with_its_reader(self):
        done = subprocess.run(["sh", "-c", '"$@" | head -n 3', "sh", *self.words("yes")],
                              capture_output=True, timeout=SECONDS, check=True)
        self.assertEqual(done.stdout, b"y\ny\ny\n")

    def test_grandchildren_that_stay_do_not_hold_us(self):
        for words in ("sleep 50 & echo done", "(while :; do sleep 0.02; echo x; done) & echo done",
                      "yes >&2 & echo done", "trap '' PIPE; sleep 50 & exec >&- 2>&-; exit 0"):
            start = time.monotonic()
            child = self.start("sh", "-c", words, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                self.assertEqual(child.wait(20), 0)
                self.assertLess(time.monotonic() - start, 15)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)

    def test_last_words_of_grandchildren_are_waited_for(self):
        # "$$" is the shell's, which ends first.
        done = self.run_child("sh", "-c", "(sleep 0.05; echo late) & echo early; exit 4")
        self.assertEqual((done.returncode, done.stdout), (4, b"early\nlate\n"))

    def test_a_slow_reader_gets_all_that_the_command_wrote(self):
        child = self.start(*python("import os; os.write(1, b'x' * 60000)"), stdout=subprocess.PIPE)
        fcntl.fcntl(child.stdout.fileno(), 1031, 4096)  # F_SETPIPE_SZ
        time.sleep(1.5)
        self.assertIsNone(child.poll())
        self.assertEqual(len(read_until(child.stdout.fileno(), None)), 60000)
        self.assertEqual(child.wait(SECONDS), 0)


class Signals(ChildTest):
    TRAP = """
import signal, sys, time
def got(number, frame):
    print("got", number, flush=True); sys.exit(7)
for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(n, got)
print("ready", flush=True)
""" + IDLE

    def test_signals_for_us_reach_the_command(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGUSR2):
            child = self.start(*python(self.TRAP), stdout=subprocess.PIPE)
            read_until(child.stdout.fileno(), b"ready\n")
            child.send_signal(number)
            self.assertEqual(child.stdout.read(), b"got %d\n" % number)
            self.assertEqual(child.wait(SECONDS), 7)
            self.assertEqual(self.result()["signal"], 0)

    def test_untrapped_ones_kill_it_and_we_live_on(self):
        child = self.start("sh", "-c", "echo ready; exec sleep 60", stdout=subprocess.PIPE)
        read_until(child.stdout.fileno(), b"ready\n")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(SECONDS), 128 + signal.SIGTERM)
        self.assertEqual(self.result()["signal"], signal.SIGTERM)

    def test_a_command_may_kill_its_group_and_we_live_on(self):
        child = self.start("sh", "-c", "echo out; kill -TERM 0; sleep 60", stdout=subprocess.PIPE,
                           start_new_session=True)
        self.assertEqual(child.wait(SECONDS), 128 + signal.SIGTERM)
        self.assertEqual(self.result()["signal"], signal.SIGTERM)

    def test_a_paused_reader_does_not_keep_signals_away(self):
        child = self.start(*python(self.TRAP.replace(IDLE, """
import os
while True: os.write(1, b"x" * 100000)""").replace('print("got", number, flush=True); ', "")),
                           stdout=subprocess.PIPE)
        read_until(child.stdout.fileno(), b"ready\n")
        time.sleep(0.3)
        child.send_signal(signal.SIGTERM)
        self.wait_for(lambda: self.has_no_children(child.pid))
        read_until(child.stdout.fileno(), None)
        self.assertEqual(child.wait(SECONDS), 7)

    @staticmethod
    def has_no_children(pid):
        path = f"/proc/{pid}/task/{pid}/children"
        if not os.path.exists(path):
            raise unittest.SkipTest(f"no {path}: a kernel without CONFIG_PROC_CHILDREN")
        with open(path, encoding="ascii") as file:
            return not file.read().strip()


class Terminals(ChildTest):
    def start_on_terminal(self, *command, streams=(0, 1, 2), job=True):
        """On a terminal that controls it, as the foreground job; streams says which it gets."""
        control, terminal = open_pty()
        self.addCleanup(os.close, control)

        def become_job():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        child = self.start(*command, stdin=terminal if 0 in streams else subprocess.DEVNULL,
                           stdout=terminal if 1 in streams else subprocess.PIPE,
                           stderr=terminal if 2 in streams else subprocess.PIPE,
                           preexec_fn=become_job if job else None)
        os.close(terminal)
        return control, child

    def test_terminals_are_seen_where_there_are_some(self):
        code = """
import os, sys
open(sys.argv[1], "w").write(str([int(os.isatty(i)) for i in range(3)]) +
    " %d %d" % (os.fstat(1).st_rdev == os.fstat(2).st_rdev, os.fstat(0).st_rdev == os.fstat(1).st_rdev))
sys.stdout.write("seen\\n")"""
        seen = os.path.join(self.folder, "seen")
        for streams, want in (((0, 1, 2), "[1, 1, 1] 1 0"), ((1, 2), "[0, 1, 1] 1 0"),
                              ((0, 1), "[1, 1, 0] 0 0"), ((2,), "[0, 0, 1] 0 0"),
                              ((), "[0, 0, 0] 0 0")):
            control, child = self.start_on_terminal(PYTHON, "-c", code, seen, streams=streams)
            read_until(control if 1 in streams else child.stdout.fileno(), b"seen")
            self.assertEqual(child.wait(SECONDS), 0)
            with open(seen, encoding="utf-8") as file:
                found = file.read()
            if streams == ():
                found = found.replace("] 1", "] 0")  # pipes have no device of their own
            self.assertEqual(found[:9], want[:9], streams)
            if streams != ():
                self.assertEqual(found, want, streams)

    def test_line_ends_are_translated_once(self):
        for words, want in (("printf 'a\\nb\\r\\nc\\rd\\te'", b"a\r\nb\r\r\nc\rd\te"),
                            ("printf 'a\\n' >&2; printf b; printf 'c\\n' >&2", b"a\r\nbc\r\n")):
            control, child = self.start_on_terminal("sh", "-c", words)
            self.assertEqual(read_until(control, None), want)
            self.assertEqual(child.wait(SECONDS), 0)

    def test_a_raw_terminal_is_sent_every_byte(self):
        control, terminal = open_pty()
        self.addCleanup(os.close, control)
        tty.setraw(terminal)
        child = self.start(*python("import os; os.write(1, bytes(range(256)) * 100)"),
                           stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL)
        os.close(terminal)
        self.assertEqual(read_until(control, None), bytes(range(256)) * 100)
        self.assertEqual(child.wait(SECONDS), 0)

    def test_the_order_of_both_streams_is_kept(self):
        control, child = self.start_on_terminal(*python("""
import os
for i in range(2000): os.write(1 + i % 2, b"%d\\n" % i)"""))
        self.assertEqual(read_until(control, None).split(), [b"%d" % i for i in range(2000)])
        self.assertEqual(child.wait(SECONDS), 0)
        self.assertEqual(self.fed().split(), [b"%d" % i for i in range(2000)])

    def test_window_size_and_its_changes_are_seen(self):
        control, child = self.start_on_terminal(*python("""
import os, signal, sys, time
def tell(*_): print("size", *os.get_terminal_size(1), *os.get_terminal_size(2), flush=True)
signal.signal(signal.SIGWINCH, tell); tell()
""" + IDLE))
        read_until(control, b"size 80 24 80 24\r\n")
        set_size(control, 50, 132)
        read_until(control, b"size 132 50 132 50\r\n")
        child.send_signal(signal.SIGTERM)
        child.wait(SECONDS)

    def test_ctrl_c_reaches_the_command_once(self):
        control, child = self.start_on_terminal(*python("""
import os, signal, sys, time
def got(number, frame):
    os.write(1, b"got it\\n")
    global count; count += 1
count = 0
signal.signal(signal.SIGINT, got)
os.write(1, b"ready\\n")
end = time.monotonic() + 60
while count == 0 and time.monotonic() < end: time.sleep(0.01)
time.sleep(0.5); print("times", count, flush=True); sys.exit(7)"""))
        read_until(control, b"ready")
        os.write(control, b"\x03")
        self.assertIn(b"times 1", read_until(control, None))
        self.assertEqual(child.wait(SECONDS), 7)

    def test_ctrl_c_that_kills_lets_us_tell(self):
        control, child = self.start_on_terminal("sh", "-c", "echo ready; exec sleep 60")
        read_until(control, b"ready")
        os.write(control, b"\x03")
        self.assertEqual(child.wait(SECONDS), 128 + signal.SIGINT)
        self.assertEqual(self.result()["signal"], signal.SIGINT)

    @staticmethod
    def state(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(") ")[2][0]

    def test_ctrl_z_stops_and_fg_continues(self):
        bash = shutil.which("bash")
        if bash is None:
            self.skipTest("no bash")
        control, terminal = open_pty()
        self.addCleanup(os.close, control)

        def become_session():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        shell = subprocess.Popen([bash, "--norc", "--noprofile", "--noediting", "-i"], stdin=terminal,
                                 stdout=terminal, stderr=terminal, preexec_fn=become_session,
                                 env={**os.environ, "PS1": "PROMPT> ", "TERM": "dumb"})
        os.close(terminal)
        try:
            read_until(control, b"PROMPT> ")
            words = [shlex.quote(word) for word in self.words("sh", "-c")]
            words.append("'echo pid $$ rea''dy; read x; echo fini''shed $x'")
            os.write(control, " ".join(words).encode() + b"\n")
            pid = read_until(control, b"ready").split()[-2].decode()
            os.write(control, b"\x1a")
            self.assertIn(b"Stopped", read_until(control, b"PROMPT> "))
            # The shell waits for us only: on a busy machine the command stops a moment later.
            self.wait_for(lambda: self.state(pid) == "T")
            os.write(control, b"fg\n")
            time.sleep(0.3)
            os.write(control, b"word\n")
            read_until(control, b"finished word")
            os.write(control, b"echo status $?\n")
            read_until(control, b"status 0")
            os.write(control, b"exit\n")
            shell.wait(SECONDS)
        finally:
            if shell.poll() is None:
                shell.kill()
            shell.wait()

    def test_a_prompt_is_seen_and_answered(self):
        control, child = self.start_on_terminal(*python("print('you said', input('name? '))"))
        read_until(control, b"name? ")
        os.write(control, b"me\n")
        read_until(control, b"you said me")
        self.assertEqual(child.wait(SECONDS), 0)

    def test_a_terminal_that_goes_away_ends_the_command(self):
        control, child = self.start_on_terminal("sh", "-c", "echo ready; exec sleep 60")
        read_until(control, b"ready")
        os.close(os.dup(control))
        # Close the last of it: the session leader, which is us, is told by SIGHUP.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, control)
        os.close(null)
        self.assertEqual(child.wait(SECONDS), 128 + signal.SIGHUP)


class Reading(ChildTest):
    def test_one_stream_is_fed_as_it_is(self):
        done = self.run_child("sh", "-c", "printf 'a\\nb\\r50%%\\rc'")
        self.assertEqual(self.fed(), done.stdout)

    def test_lines_of_one_do_not_stand_within_lines_of_the_other(self):
        self.run_child(*python("""
import os, time
os.write(2, b"CUDA out of "); time.sleep(0.1)
os.write(1, b"step 1\\nstep "); time.sleep(0.1)
os.write(2, b"memory\\nbar"); time.sleep(0.1)
os.write(1, b"2")"""))
        self.assertEqual(self.fed(), b"step 1\nCUDA out of memory\n2".replace(b"2", b"step 2\nbar"))

    def test_long_lines_are_cut_not_kept(self):
        done = self.run_child(*python("""
import os
for i in range(300): os.write(1, b"x" * 1000); os.write(2, b"y" * 1000)
os.write(1, b"X\\n"); os.write(2, b"Y\\n")"""))
        fed = self.fed()
        self.assertEqual(sorted(fed), sorted(done.stdout + done.stderr))
        self.assertEqual(bytes(c for c in fed if c in b"xX"), done.stdout[:-1])

    def test_what_cannot_be_read_is_passed_on_all_the_same(self):
        for fail_at in (1, 2, 3, 10):
            done = self.run_child(*python("""
import os
for i in range(50): os.write(1, b"x" * 5000 + b"\\n"); os.write(2, b"y\\n" * 5000)"""), fail_at=fail_at)
            self.assertEqual(done.stdout, (b"x" * 5000 + b"\n") * 50)
            self.assertEqual(done.stderr, b"y\n" * 250000)
            result = self.result()
            self.assertEqual(result["has_explanation"], 0)
            self.assertIn("out of host memory", result["error"])

    def test_a_failure_at_the_end_is_told_too(self):
        self.assertEqual(self.run_child("true", fail_at=2).returncode, 0)
        self.assertIn("out of host memory", self.result()["error"])

    def test_the_judgement(self):
        for words, status, want in (
                ("echo '[exhausted]'; exit 1", 1, 1), ("echo '[exhausted]' >&2; kill -9 $$", 137, 1),
                ("echo '[exhausted]'", 0, 0), ("echo '[not_oom]'; exit 1", 1, 0),
                ("echo '[weak]'; exit 1", 1, 0), ("echo '[weak]' '[exhausted]'; exit 1", 1, 1),
                ("echo nothing; exit 1", 1, 0)):
            self.assertEqual(self.run_child("sh", "-c", words).returncode, status)
            self.assertEqual(self.result()["died_of_memory"], want, words)

    def test_a_kill_that_nobody_counted(self):
        self.run_child("sh", "-c", "kill -9 $$")
        result = self.result()
        self.assertEqual(result["was_killed"], 1)
        if result["kill_count"] > 0:
            self.skipTest("the kernel killed somebody else just now")
        self.assertEqual((result["died_of_memory"], result["was_oom_killed"]), (0, 0))
        self.assertEqual(result["may_be_oom_killed"], int(result["kill_scope"] == 0))


OOM = ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total "
       "capacity of 79.11 GiB of which 1.00 GiB is free. Process 4242 has 78.00 GiB memory in use. Of "
       "the allocated memory 77.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch "
       "but unallocated.")


class Explain(unittest.TestCase):
    """The whole command."""

    @classmethod
    def setUpClass(cls):
        listed = subprocess.run([PLIMSOLL, "help"], capture_output=True, timeout=SECONDS, check=False)
        if b"explain" not in listed.stdout:
            raise unittest.SkipTest("this plimsoll has no command explain")

    def explain(self, *command, **options):
        return subprocess.run([PLIMSOLL, "explain", "--", *command], capture_output=True,
                              timeout=SECONDS, check=False, **options)

    def test_a_death_of_memory_is_explained(self):
        done = self.explain("sh", "-c", 'echo step 1; echo "$1" >&2; exit 3', "sh", OOM)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stdout.startswith(b"step 1\n"), done.stdout)
        self.assertTrue(done.stderr.startswith(OOM.encode() + b"\n"), done.stderr)
        said = done.stdout + done.stderr
        self.assertGreater(len(said), len(OOM) + 8 + 100)

    def test_nothing_is_added_otherwise(self):
        for words, status in (("echo fine", 0), ("echo failed; exit 5", 5),
                              ('echo "$1"; exit 0', 0), ("kill -TERM $$", 143)):
            done = self.explain("sh", "-c", words, "sh", OOM)
            self.assertEqual(done.returncode, status)
            alone = subprocess.run(["sh", "-c", words, "sh", OOM], capture_output=True, check=False)
            self.assertEqual((done.stdout, done.stderr), (alone.stdout, alone.stderr), words)

    def test_an_empty_command_is_wrong_usage(self):
        self.assertEqual(self.explain().returncode, 2)

    def test_a_command_that_is_not_there_is_one_line(self):
        done = self.explain("no-such-command-1b2")
        self.assertEqual((done.returncode, done.stdout), (127, b""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(b"plimsoll explain: "), done.stderr)

    def test_options_behind_the_dashes_are_the_commands(self):
        self.assertEqual(self.explain("echo", "--help", "--", "-x").stdout, b"--help -- -x\n")


if __name__ == "__main__":
    unittest.main()
