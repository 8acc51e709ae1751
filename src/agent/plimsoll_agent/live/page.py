"""The live page of a process: a file of 4096 bytes, mapped into memory. docs/formats/live-page.md.

The writer's side. Readers of the same user copy the bytes and know by the sequence and the
checksum that they are those of one update. Two words lie outside: what a reader requests, and what
has been done.
"""

import binascii
import ctypes
import mmap
import os
import stat
import struct
import time

VERSION = 1
PAGE_BYTES = 4096
MAGIC = b"plimlive"
DEVICES_MAX = 16
FOLDER_BYTES = 1016  # with the NUL
RUNNING, DUMPING = 0, 1
HANDLES_SIGUSR1 = 1
GROWS = 1
_NAMES_MAX = 4096  # of a folder that are looked at for pages of the dead

# Numbers are little-endian on every machine that CUDA runs on; "=" says so of their sizes.
_HEAD = struct.Struct("=8sIIQQQII16x")  # magic … checksum
_REQUEST, _ANSWERED, _SEQUENCE = 2, 3, 4  # as words of 8 bytes
_BODY_AT = 64
_CHECKSUM_AT = 44
_PROCESS = struct.Struct(f"=QQQiiIIQQIIII64s32s32s{FOLDER_BYTES}s")
_DEVICE = struct.Struct("=iIQQQQQQQQQdQQQ48s")
_BODY_BYTES = _PROCESS.size + DEVICES_MAX * _DEVICE.size


class Unusable(Exception):
    """There is no folder in which a page can lie; the text says why."""


def _wanted_folders(environment):
    chosen = environment.get("PLIMSOLL_LIVE")
    if chosen:
        return [chosen]
    runtime = environment.get("XDG_RUNTIME_DIR")
    ours = [os.path.join(runtime, "plimsoll")] if runtime else []
    return [*ours, f"/dev/shm/plimsoll-{os.geteuid()}"]


def _open_folder(path):
    """A descriptor of the folder, which is this user's alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    found = os.fstat(folder)
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        os.close(folder)
        raise Unusable(f"{path} is another user's, or others may write to it")
    return folder


def _any_folder(environment):
    """The first folder that will do: (path, descriptor)."""
    reasons = []
    for path in _wanted_folders(environment):
        try:
            return path, _open_folder(path)
        except (OSError, Unusable) as error:
            reasons.append(str(error))
    raise Unusable("; ".join(reasons))


def start_of(pid):
    """When a process began, in ticks since the machine did; None: it is not there."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read(4096)
    except OSError:
        return None
    fields = text[text.rfind(b")") + 1:].split()  # its name may hold blanks and brackets
    return int(fields[19]) if len(fields) > 19 else None


def _namespace():
    """Of process numbers: those of another one say nothing here."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


class _Owner:
    """Whose page it is."""

    def __init__(self, data):
        magic, version, *_ = _HEAD.unpack_from(data)
        if magic != MAGIC or version != VERSION:
            raise ValueError("not a page of this release")
        _, self.started, self.namespace, self.pid, *_ = _PROCESS.unpack_from(data, _BODY_AT)

    def is_gone(self, namespace):
        return self.namespace == namespace and start_of(self.pid) != self.started


def _read_owner(name, folder):
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            return _Owner(os.read(file, PAGE_BYTES))
        finally:
            os.close(file)
    except (OSError, ValueError, struct.error):
        return None


def _sweep(folder, namespace):
    """Removes the pages of processes that are gone. Names of others that are in our way stay."""
    for name in os.listdir(folder)[:_NAMES_MAX]:
        if not name.endswith(".live"):
            continue
        owner = _read_owner(name, folder)
        if owner is not None and owner.is_gone(namespace):
            try:
                os.unlink(name, dir_fd=folder)
            except OSError:
                pass


def _mapped(file):
    """The bytes of a file, mapped for the rest of the process.

    An mmap of Python's keeps a descriptor of the file. A program that closes all of its descriptors,
    to become a daemon, closes that one too; ours would then close what the program opened next.
    """
    library = ctypes.CDLL(None, use_errno=True)
    call = library.mmap
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = call(None, PAGE_BYTES, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    if address == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return memoryview((ctypes.c_ubyte * PAGE_BYTES).from_address(address)).cast("B")


class Process:
    """What a page says of its process beside the devices."""

    def __init__(self):
        self.rank = -1
        self.state = RUNNING
        self.flags = 0
        self.step = 0
        self.limit = 0
        self.period_ms = 0
        self.dump_count = 0
        self.last_dump = ""
        self.plimsoll = ""
        self.torch = ""
        self.folder = ""


class Device:
    """What a page says of a device; bytes."""

    __slots__ = ("index", "flags", "total", "allocated", "reserved", "active", "inactive_split",
                 "peak_allocated", "peak_reserved", "retries", "ooms", "growth", "since_step",
                 "full_at_step", "step_allocated", "name", "blocks")

    def __init__(self, index):
        for field in self.__slots__:
            setattr(self, field, 0)
        self.index = index
        self.name = b""


class Page:
    """Of this process, from open() until close()."""

    def __init__(self, process, environment=os.environ):
        """Raises OSError or Unusable where there can be no page.

        process  what it says from its first moment: readers know a run by its folder
        """
        self.pid = os.getpid()
        self._started = start_of(self.pid) or 0
        self._namespace = _namespace()
        self._body = bytearray(_BODY_BYTES)
        self._sequence = 0
        self.folder, folder = _any_folder(environment)
        try:
            _sweep(folder, self._namespace)
            self._make(folder, process)
        finally:
            os.close(folder)

    def _make(self, folder, process):
        """A whole page under its name, or nothing."""
        name = f"{self.pid}.live"
        owner = _read_owner(name, folder)
        if owner is not None and owner.namespace != self._namespace:
            name = f"{self.pid}-{self._namespace}.live"
        part = f"{name}.part"
        try:
            os.unlink(part, dir_fd=folder)
        except FileNotFoundError:
            pass
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(part, flags, 0o600, dir_fd=folder)
        try:
            # a full file system is to fail here, and not with a signal when the page is written to
            os.posix_fallocate(file, 0, PAGE_BYTES)
            self._bytes = _mapped(file)
        except BaseException:
            os.unlink(part, dir_fd=folder)
            raise
        finally:
            os.close(file)
        self._bytes[:_HEAD.size] = _HEAD.pack(MAGIC, VERSION, PAGE_BYTES, 0, 0, 0, _BODY_BYTES, 0)
        self._words = self._bytes.cast("Q")  # one store each: a reader sees no half of one
        self._checksum = self._bytes[_CHECKSUM_AT:_CHECKSUM_AT + 4].cast("I")
        self.write(process, ())
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        self.path = os.path.join(self.folder, name)

    def write(self, process, devices):
        """An update: made aside, then copied between two stores of the sequence."""
        body = self._body
        shown = devices[:DEVICES_MAX]
        _PROCESS.pack_into(
            body, 0, time.monotonic_ns(), self._started, self._namespace, self.pid, process.rank,
            process.state, process.flags, process.step, process.limit, process.period_ms,
            len(shown), len(devices) - len(shown), process.dump_count,
            _text(process.last_dump, 64), _text(process.plimsoll, 32), _text(process.torch, 32),
            _text(process.folder, FOLDER_BYTES))
        at = _PROCESS.size
        for device in shown:
            _DEVICE.pack_into(
                body, at, device.index, device.flags, device.total, device.allocated,
                device.reserved, device.active, device.inactive_split, device.peak_allocated,
                device.peak_reserved, device.retries, device.ooms, device.growth,
                device.since_step, device.full_at_step, device.step_allocated, device.name)
            at += _DEVICE.size
        words = self._words
        words[_SEQUENCE] = self._sequence + 1
        self._bytes[_BODY_AT:_BODY_AT + _BODY_BYTES] = body
        self._checksum[0] = binascii.crc32(body)
        self._sequence += 2
        words[_SEQUENCE] = self._sequence

    @property
    def request(self):
        """A number that readers raise: they request a dump."""
        return self._words[_REQUEST]

    def answer(self, request):
        """The request has been carried out, or could not be."""
        self._words[_ANSWERED] = request

    def close(self):
        """Removes the file; a reader that has it open still reads the last update."""
        try:
            os.unlink(self.path)
        except OSError:
            pass


def _text(text, room):
    """At most so many bytes with the NUL, cut between characters."""
    data = os.fsencode(text) if isinstance(text, str) else text
    if len(data) < room:
        return data
    return data[:room - 1].decode("utf-8", "ignore").encode("utf-8")
