#!/usr/bin/env python3
"""test_discover.py - what the launcher is told of a Python, over made-up site folders."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

DISCOVER = os.path.abspath(os.path.join(
    os.path.dirname(__file__), "..", "..", "src", "agent", "discover.py"))

VERSION = """from typing import Optional
__all__ = ['__version__']
__version__ = '2.11.0+cu130'
debug = False
cuda: Optional[str] = '13.0'
hip: Optional[str] = None
"""


def elf(*needed):
    """A shared object of no code that needs libraries: header, two segments, dynamic section."""
    strings = b"\0"
    entries = b""
    for name in needed:
        entries += struct.pack("<QQ", 1, len(strings))
        strings += name.encode() + b"\0"
    strings_at = 64 + 2 * 56
    dynamic_at = strings_at + len(strings)
    entries += struct.pack("<QQQQQQ", 5, 0x1000 + strings_at, 10, len(strings), 0, 0)
    size = dynamic_at + len(entries)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, 0x1000, 0x1000, size, size, 0x1000)
    dynamic = struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, 0x1000 + dynamic_at, 0, len(entries),
                          len(entries), 8)
    return header + load + dynamic + strings + entries


class DiscoverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = os.path.join(folder.name, "site-packages")
        os.mkdir(self.site)

    def write(self, name, data=b""):
        path = os.path.join(self.site, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return path

    def torch(self):
        self.write("torch/__init__.py", "raise SystemExit('torch must not be imported')\n")
        self.write("torch/version.py", VERSION)
        return [self.write("torch/lib/libc10_cuda.so", elf("libcudart.so.13")),
                self.write("torch/lib/libtorch_cuda.so", elf("libcublas.so.13")),
                self.write("torch/_C.cpython-311-x86_64-linux-gnu.so", elf("libtorch.so"))]

    def metadata(self, name, version, requires=()):
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        self.write(f"{folder}/METADATA", "\n".join(lines) + "\n")

    def discover(self):
        environment = {"PYTHONPATH": self.site, "PATH": os.environ.get("PATH", "")}
        done = subprocess.run([sys.executable, "-S", DISCOVER], env=environment, timeout=60,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return json.loads(done.stdout)

    def test_no_torch(self):
        answer = self.discover()
        self.assertEqual(answer.pop("python"), sys.version)
        self.assertEqual(answer, {"torch": None, "cuda": None, "cudnn": None, "nccl": None,
                                  "objects": []})

    def test_versions_and_objects(self):
        objects = self.torch()
        self.write("torch/lib/readme.txt")
        self.metadata("nvidia-cudnn-cu13", "9.19.0.56")
        self.metadata("nvidia-nccl-cu13", "2.28.9")
        answer = self.discover()
        self.assertEqual([answer[key] for key in ("torch", "cuda", "cudnn", "nccl")],
                         ["2.11.0+cu130", "13.0", "9.19.0.56", "2.28.9"])
        self.assertEqual(answer["objects"], objects)

    def test_versions_that_torch_wants(self):
        self.torch()
        self.metadata("torch", "2.11.0", [
            "filelock", 'nvidia-cudnn-cu13==9.1.2.3 ; platform_system == "Linux"',
            "nvidia-nccl-cu12==1.0"])
        answer = self.discover()
        self.assertEqual((answer["cudnn"], answer["nccl"]), ("9.1.2.3", None))

    def test_other_packages(self):
        objects = self.torch()
        wanting = [self.write("flash/deep/_C.so", elf("libc.so.6", "libcudart.so.13")),
                   self.write("single.so", elf("libcuda.so.1"))]
        self.write("plain/_C.so", elf("libc.so.6"))
        self.write("like/_C.so", elf("libcudartish.so"))
        self.write("nvidia/cudnn/lib/libcudnn.so.9", elf("libcublas.so.13"))
        self.assertEqual(self.discover()["objects"], objects + wanting)

    def test_damaged_objects(self):
        objects = self.torch()
        whole = elf("libcudart.so.13")
        for length in range(len(whole) - 16):  # the last entry only ends the list
            self.write(f"broken/{length}.so", whole[:length])
        self.write("broken/strange.so", b"\x7fELF\x02\x01" + b"\xff" * 500)
        self.write("broken/script.so", "GROUP ( libcudart.so.13 )")
        found = self.discover()["objects"][len(objects):]
        self.assertEqual(found, [])

    def test_a_module_without_versions(self):
        self.write("torch/version.py", "")
        self.write("torch/__init__.py", "")
        answer = self.discover()
        self.assertEqual((answer["torch"], answer["cuda"]), (None, None))


if __name__ == "__main__":
    unittest.main()
