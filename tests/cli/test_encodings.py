#!/usr/bin/env python3
"""test_encodings.py PLIMSOLL - the same answer, whatever a file was compressed with or encoded in.

Logs and snapshots as gzip, zstd, xz and bzip2, in several members too, and as UTF-16 with and without
a byte order mark, from a file and from a pipe; what is damaged or too large is refused in one line.
"""
import bz2
import gzip
import json
import lzma
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv[1]
LOG = ("step 1 \N{EN DASH} caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{ROCKET}\r\n"
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
       "23.65 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process has 22.58 GiB memory in "
       "use. Of the allocated memory 20.11 GiB is allocated by PyTorch, and 2.01 GiB is reserved by PyTorch but "
       "unallocated.\r\n")
SNAPSHOT = {"device_traces": [[{"action": "alloc", "addr": 512, "size": 1024, "stream": 0, "frames": []},
                               {"action": "oom", "size": 4096, "stream": 0, "device_free": 0, "frames": []}]],
            "segments": []}

MEMBERS = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


def build_reads(compress):
    """False in a build without the library, which says what to do."""
    done = subprocess.run([PLIMSOLL, "explain", "-"], input=compress(LOG.encode()), capture_output=True, check=False)
    assert done.returncode == 0 or b"which is not decoded here; make it plain with" in done.stderr, done.stderr
    return done.returncode == 0


def run(command, data=None, path="-", **more):
    return subprocess.run([PLIMSOLL, command, "--json", path], input=data, capture_output=True, check=False, **more)


def answer(command, data):
    """The document, without what is of the file itself."""
    done = run(command, data)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    document = json.loads(done.stdout)
    for file in document.get("files", []):
        for name in ("bytes", "compression", "source", "file"):
            file.pop(name, None)
        document.pop("says", None)
    document.pop("says", None)
    for name in ("bytes", "input"):
        document.pop(name, None)
    return document


MEMBERS = {name: compress for name, compress in MEMBERS.items() if build_reads(compress)}


class Encodings(unittest.TestCase):
    def same(self, command, data, plain):
        self.assertEqual(answer(command, data), answer(command, plain))
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.assertEqual(run(command, path=file.name).returncode, 0)

    def test_logs_and_snapshots_may_be_compressed(self):
        log, snapshot = LOG.encode(), pickle.dumps(SNAPSHOT)
        for name, compress in MEMBERS.items():
            with self.subTest(name):
                self.same("explain", compress(log), log)
                self.same("inspect", compress(snapshot), snapshot)
                self.same("explain", compress(log[:100]) + compress(b"") + compress(log[100:]), log)

    @unittest.skipUnless("xz" in MEMBERS, "built without liblzma")
    def test_xz_may_be_padded(self):
        self.same("explain", lzma.compress(LOG.encode()) + bytes(8), LOG.encode())

    def test_text_may_be_utf_16(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            for mark in ("\N{ZERO WIDTH NO-BREAK SPACE}", ""):
                with self.subTest(encoding, mark=mark):
                    self.same("explain", (mark + LOG).encode(encoding), LOG.encode())
                    # As PowerShell's >> appends.
                    self.same("explain", (mark + LOG[:7] + "\ufeff" + LOG[7:]).encode(encoding), LOG.encode())
                    text = json.dumps(SNAPSHOT)
                    self.same("inspect", (mark + text).encode(encoding), text.encode())

    def test_figures_of_utf_16_are_read(self):
        message = answer("explain", ("\ufeff" + LOG).encode("utf-16-le"))["messages"][0]
        self.assertIn(str(2 << 30), json.dumps(message))

    def test_half_a_unit_and_half_a_pair_do_no_harm(self):
        whole = ("\ufeff" + LOG).encode("utf-16-le")
        for tail in (b"\n", b"\x3d\xd8", b"\x3d\xd8\n\x00", b"\x00\xdc"):
            self.assertEqual(answer("explain", whole + tail)["messages"], answer("explain", whole)["messages"])

    def test_what_is_damaged_is_refused_in_one_line(self):
        plain = LOG.encode() + random.Random(1).randbytes(4000)
        for name, compress in MEMBERS.items():
            packed = compress(plain)
            spoiled = bytearray(packed)
            spoiled[len(spoiled) // 2] ^= 0xff
            for what, data in (("cut off", packed[:len(packed) * 3 // 4]), ("damaged|cut off", bytes(spoiled)),
                               ("after its", packed + b"text")):
                with self.subTest(name, what=what):
                    done = run("explain", data)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                    self.assertRegex(done.stderr.decode(), what)
                    self.assertIn(name.encode(), done.stderr)

    def test_every_cut_ends_well(self):
        for compress in MEMBERS.values():
            packed = compress(LOG.encode())
            for length in range(len(packed) - 1, 0, -7):
                self.assertIn(run("explain", packed[:length]).returncode, (0, 3), length)

    @unittest.skipUnless("xz" in MEMBERS, "built without liblzma")
    def test_memory_is_bounded(self):
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 512 << 20}]
        done = run("explain", lzma.compress(LOG.encode(), filters=filters))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"more than 128 MiB", done.stderr)
        self.assertIn(b"xz -dc", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
