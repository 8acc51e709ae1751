#!/usr/bin/env python3
"""test_live_page.py - the live page: its bytes, its owner, and a program that never notices."""

import binascii
import gc
import os
import pathlib
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "src/agent"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from fake_torch import FakeTorch  # noqa: E402
from plimsoll_agent.blackbox.devices import Devices  # noqa: E402
from plimsoll_agent.journal import Journal  # noqa: E402
from plimsoll_agent.live import page as pages  # noqa: E402
from plimsoll_agent.live import publisher as publishers  # noqa: E402
from plimsoll_agent.live.figures import quietly  # noqa: E402
from plimsoll_agent.places import Places  # noqa: E402

GIB = 1 << 30


class Recorder:
    """As much of one as a publisher touches."""

    def __init__(self, folder="/run/folder/1", limit=None):
        self.torch = FakeTorch()
        self.torch.__version__ = "2.11.0"
        self.torch.__file__ = "/torch/__init__.py"
        self.torch.cuda.get_device_properties = lambda index: types.SimpleNamespace(
            total_memory=80 * GIB, name="NVIDIA H100 80GB HBM3")
        self.devices = Devices(self.torch, None)
        self.places = Places(self.torch.__file__)
        self.choice = types.SimpleNamespace(limit=limit, stop_on=(), is_quiet=False)
        self.journal = Journal()
        self.folder = folder
        self.release = "0.1.0"
        self.dumps = types.SimpleNamespace(names=[])
        self.stopped_on = []
        self.said = []

    def dump(self, reason):
        self.dumps.names.append(f"{len(self.dumps.names) + 1:03d}-{reason}")
        return self.dumps.names[-1]

    def handles_signal(self):
        return True

    def stopping(self, condition):
        self.stopped_on.append(condition)
        return True

    def say(self, line):
        self.said.append(line)


class Shown:
    """A page as a reader in another process finds it, by docs/formats/live-page.md alone."""

    def __init__(self, data):
        assert len(data) == 4096, len(data)
        magic, version, size, self.request, self.answered, self.sequence, count, crc = (
            struct.unpack_from("<8sIIQQQII", data))
        assert (magic, version, size, count) == (b"plimlive", 1, 4096, 3776)
        assert self.sequence % 2 == 0
        assert binascii.crc32(data[64:64 + count]) == crc
        (self.updated, self.started, self.namespace, self.pid, self.rank, self.state, self.flags,
         self.step, self.limit, self.period_ms, self.count, self.left_out, self.dump_count,
         last_dump, plimsoll, torch, folder) = struct.unpack_from(
            "<QQQiiIIQQIIII64s32s32s1016s", data, 64)
        self.last_dump, self.plimsoll, self.torch, self.folder = (
            text.split(b"\0")[0].decode() for text in (last_dump, plimsoll, torch, folder))
        self.devices = [struct.unpack_from("<iIQQQQQQQQQdQQQ48s", data, 1280 + 160 * index)
                        for index in range(self.count)]


def read(path):
    return Shown(pathlib.Path(path).read_bytes())


def wait_until(true):
    until = time.monotonic() + 60
    while not true():
        if time.monotonic() > until:
            raise AssertionError("it does not come")
        time.sleep(0.01)


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="plimsoll live ")
        self.addCleanup(holder.cleanup)
        self.folder = os.path.join(holder.name, "pages")
        self.environment = {"PLIMSOLL_LIVE": self.folder, "RANK": "3"}
        self.recorder = Recorder()

    def publisher(self):
        publisher = publishers.Publisher(self.recorder, self.environment)
        self.addCleanup(publisher.end)
        return publisher

    def path(self):
        return os.path.join(self.folder, f"{os.getpid()}.live")


class TestPublisher(Case):
    def test_names_its_run_from_the_first_moment(self):
        publisher = self.publisher()
        publisher._run = lambda wake: None  # nothing is published after that
        publisher.begin()
        shown = read(self.path())
        self.assertEqual((shown.rank, shown.folder), (3, "/run/folder/1"))

    def test_publishes_figures(self):
        self.recorder.choice.limit = 40 * GIB
        publisher = self.publisher()
        self.recorder.torch.allocate(3 * GIB)
        self.recorder.torch.free(1 * GIB)
        publisher.begin()
        wait_until(lambda: read(self.path()).count == 1)
        publisher.stepped(12)
        wait_until(lambda: read(self.path()).step == 12)
        shown = read(self.path())
        self.assertEqual((shown.pid, shown.rank, shown.limit), (os.getpid(), 3, 40 * GIB))
        self.assertEqual(shown.started, pages.start_of(os.getpid()))
        self.assertEqual(shown.namespace, os.stat("/proc/self/ns/pid").st_ino)
        self.assertEqual((shown.plimsoll, shown.torch, shown.folder),
                         ("0.1.0", "2.11.0", "/run/folder/1"))
        index, _, total, allocated, reserved, active, _, peak, *_ = shown.devices[0]
        self.assertEqual((index, total, allocated, reserved, active, peak),
                         (0, 80 * GIB, 2 * GIB, 2 * GIB, 2 * GIB, 3 * GIB))
        self.assertEqual(shown.devices[0][-1].rstrip(b"\0"), b"NVIDIA H100 80GB HBM3")
        self.assertLess(time.monotonic_ns() - shown.updated, 60 * 10**9)

    def test_a_device_that_has_no_memory_is_not_in_use(self):
        publisher = self.publisher()
        publisher.begin()
        first = read(self.path()).sequence
        wait_until(lambda: read(self.path()).sequence > first)
        self.assertEqual(read(self.path()).count, 0)

    def test_the_folder_and_the_page_are_the_users_alone(self):
        self.publisher().begin()
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.path()).st_mode), 0o600)

    def test_ends(self):
        publisher = self.publisher()
        publisher.begin()
        publisher.end()
        publisher.end()
        self.assertEqual(os.listdir(self.folder), [])

    def test_off_is_nothing(self):
        self.environment["PLIMSOLL_LIVE"] = "off"
        publisher = self.publisher()
        threads = os.listdir("/proc/self/task")
        publisher.begin()
        publisher.stepped(1)
        self.assertEqual(os.listdir("/proc/self/task"), threads)
        publisher.end()

    def test_threading_does_not_know_of_it(self):
        before = threading.enumerate()
        self.publisher().begin()
        wait_until(lambda: read(self.path()).sequence > 4)
        self.assertEqual(threading.enumerate(), before)

    def test_carries_out_requests(self):
        publisher = self.publisher()
        publisher.begin()
        with open(self.path(), "r+b") as file:
            file.seek(16)
            file.write(struct.pack("<Q", 7))
        wait_until(lambda: read(self.path()).answered == 7)
        shown = read(self.path())
        self.assertEqual((shown.last_dump, shown.dump_count, shown.state), ("001-request", 1, 0))
        self.assertEqual(self.recorder.dumps.names, ["001-request"])

    def test_a_dump_that_fails_is_answered(self):
        def fail(reason):
            raise OSError("no space")

        self.recorder.dump = fail
        self.publisher().begin()
        with open(self.path(), "r+b") as file:
            file.seek(16)
            file.write(struct.pack("<Q", 1))
        wait_until(lambda: read(self.path()).answered == 1)
        self.assertEqual(read(self.path()).dump_count, 0)
        self.assertEqual(self.recorder.journal.lines,
                         ["the agent could not dump on request: OSError: no space"])

    def test_figures_that_cannot_be_read_end_it(self):
        def fail(device):
            raise RuntimeError("this allocator counts nothing")

        self.recorder.torch._C._cuda_memoryStats = fail
        self.publisher().begin()
        wait_until(lambda: self.recorder.journal.lines)
        self.assertEqual(
            self.recorder.journal.lines,
            ["the agent could not publish live figures: RuntimeError: this allocator counts nothing"])

    def test_a_folder_of_others_is_refused(self):
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o777)
        self.publisher().begin()
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("others may write to it", self.recorder.journal.lines[0])

    def test_a_link_is_refused(self):
        os.mkdir(f"{self.folder}.real", 0o700)
        os.symlink(f"{self.folder}.real", self.folder)
        self.publisher().begin()
        self.assertEqual(os.listdir(f"{self.folder}.real"), [])
        self.assertEqual(len(self.recorder.journal.lines), 1)

    def test_a_folder_that_cannot_be_is_followed_by_the_next(self):
        shared = f"/dev/shm/plimsoll-{os.geteuid()}"
        publisher = publishers.Publisher(
            self.recorder, {"XDG_RUNTIME_DIR": os.path.join(self.folder, "is", "not", "there")})
        self.addCleanup(publisher.end)
        publisher.begin()
        self.assertTrue(os.path.exists(os.path.join(shared, f"{os.getpid()}.live")))

    def test_a_child_forgets(self):
        publisher = self.publisher()
        publisher.begin()
        path = self.path()
        child = os.fork()
        if child == 0:
            publisher.forget()
            publisher.stepped(9)
            publisher.end()
            os._exit(0 if os.path.exists(path) else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        before = read(self.path()).sequence
        wait_until(lambda: read(self.path()).sequence > before)
        self.assertEqual(read(self.path()).step, 0)

    def test_a_child_publishes_on_its_own(self):
        publisher = self.publisher()
        publisher.begin()
        child = os.fork()
        if child == 0:
            publisher.forget()
            publisher.begin()
            path = os.path.join(self.folder, f"{os.getpid()}.live")
            wait_until(lambda: read(path).sequence > 4)
            publisher.end()
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path())])

    def test_the_interpreter_ends_with_it(self):
        script = (
            "import sys; sys.path[:0] = sys.argv[1:3]\n"
            "from test_live_page import Recorder, publishers\n"
            "publisher = publishers.Publisher(Recorder(), {'PLIMSOLL_LIVE': sys.argv[3]})\n"
            "publisher.begin()\n"
            "if sys.argv[4] == 'end': publisher.end()\n")
        for how in ("end", "leave"):
            done = subprocess.run(
                [sys.executable, "-c", script, str(REPOSITORY / "src/agent"),
                 str(pathlib.Path(__file__).parent), self.folder, how],
                capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(os.listdir(self.folder)), 0 if how == "end" else 1)
        # the next one that begins removes what the one that left
        self.publisher().begin()
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path())])


class TestPage(Case):
    def page(self):
        page = pages.Page(pages.Process(), self.environment)
        self.addCleanup(page.close)
        return page

    def made_by(self, name, change):
        """A page under another name, changed at places."""
        data = bytearray(pathlib.Path(self.path()).read_bytes())
        for at, layout, value in change:
            struct.pack_into(layout, data, at, value)
        struct.pack_into("<I", data, 44, binascii.crc32(data[64:64 + 3776]))
        pathlib.Path(self.folder, name).write_bytes(data)

    def test_pages_of_the_dead_go(self):
        self.page().write(pages.Process(), ())
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        self.made_by("1.live", [(88, "<i", gone.pid)])
        self.made_by("2.live", [(72, "<Q", 1)])  # this process' number, and another's start
        self.made_by("3.live", [(88, "<i", gone.pid), (80, "<Q", 5)])  # other numbers than ours
        self.made_by("4.live", [(8, "<I", 9), (88, "<i", gone.pid)])  # another version
        pathlib.Path(self.folder, "5.live").write_bytes(b"plim")
        os.mkfifo(os.path.join(self.folder, "6.live"))
        os.symlink("/etc/passwd", os.path.join(self.folder, "7.live"))
        pathlib.Path(self.folder, "notes").write_text("of the user")
        pages.Page(pages.Process(), self.environment)
        self.assertEqual(
            sorted(os.listdir(self.folder)),
            sorted([os.path.basename(self.path()), "3.live", "4.live", "5.live", "6.live",
                    "7.live", "notes"]))

    def test_one_of_another_container_keeps_its_name(self):
        self.page()
        self.made_by(f"{os.getpid()}.live", [(80, "<Q", 5)])
        second = self.page()
        namespace = os.stat("/proc/self/ns/pid").st_ino
        self.assertEqual(os.path.basename(second.path), f"{os.getpid()}-{namespace}.live")
        self.assertEqual(read(self.path()).namespace, 5)

    def test_more_devices_than_there_is_room_for(self):
        page = self.page()
        page.write(pages.Process(), [pages.Device(index) for index in range(20)])
        shown = read(self.path())
        self.assertEqual((shown.count, shown.left_out), (16, 4))
        self.assertEqual([device[0] for device in shown.devices], list(range(16)))

    def test_texts_are_cut_between_characters(self):
        page = self.page()
        process = pages.Process()
        process.last_dump = "ä" * 40
        page.write(process, ())
        self.assertEqual(read(self.path()).last_dump, "ä" * 31)

    def test_a_name_with_blanks_and_brackets_has_a_start(self):
        self.assertIsNotNone(pages.start_of(os.getpid()))
        self.assertIsNone(pages.start_of(2**22 + 1))


class TestQuietly(unittest.TestCase):
    def test_the_collector_is_as_it_was(self):
        self.assertFalse(quietly(gc.isenabled))
        self.assertTrue(gc.isenabled())
        gc.disable()
        try:
            self.assertFalse(quietly(gc.isenabled))
            self.assertFalse(gc.isenabled())
        finally:
            gc.enable()


if __name__ == "__main__":
    unittest.main()
