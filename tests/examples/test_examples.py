#!/usr/bin/env python3
"""test_examples.py EXAMPLES PLIMSOLL FAKE_CUDA FAKE_NVML - what the examples print is what they say.

EXAMPLES is the folder they were built to. The one for GPUs runs on tests/fake_cuda. What depends on
the machine, times and addresses, is not looked at.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EXAMPLES, PLIMSOLL, FAKE_CUDA, FAKE_NVML = (
    pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(4))


def run(*command, cwd=None, status=0, **environment):
    """What a command prints. No setting of the caller's reaches it."""
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("PYTORCH_", "PLIMSOLL_", "FAKE_CUDA_"))}
    done = subprocess.run([str(word) for word in command], env={**clean, **environment}, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode != status or (status == 0 and done.stderr):
        raise AssertionError(f"{command} gave {done.returncode}, not {status}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Examples(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def inspected(self, name):
        page = run(PLIMSOLL, "inspect", "--json", self.folder / name)
        return json.loads(page)["files"][0]["devices"][0]

    def test_allocate(self):
        rows = [cells(line) for line in run(EXAMPLES / "allocate").splitlines() if "|" in line]
        table = {row[0]: row[1:] for row in rows}
        self.assertEqual(table["Allocated memory"], ["0 B", "3072 KiB", "3072 KiB", "3072 KiB"])
        self.assertEqual(table["GPU reserved memory"], ["20480 KiB", "20480 KiB", "20480 KiB", "0 B"])
        self.assertEqual(table["Allocations"], ["0", "1", "1", "1"])

    def test_allocate_reads_the_settings_of_the_environment(self):
        words = run(EXAMPLES / "allocate", status=3, PYTORCH_CUDA_ALLOC_CONF="max_split_size:1")
        self.assertRegex(words, r"allocate: PYTORCH_CUDA_ALLOC_CONF.*max_split_size_mb")

    def test_streams(self):
        self.assertEqual(re.findall(r"(?m)^  (.*)", run(EXAMPLES / "streams")), [
            "stream 1 gets offset 0 MiB", "stream 1 gets offset 0 MiB",
            "allocated 0 MiB, active 4 MiB", "stream 1 gets offset 4 MiB",
            "stream 1 gets offset 0 MiB", "allocated 8 MiB, active 8 MiB"])

    def test_capture_pool(self):
        page = run(EXAMPLES / "capture_pool")
        self.assertIn("nothing else: yes", page)
        self.assertIn("next block is somewhere else", page)
        self.assertEqual(re.findall(r"reserved +(\d+) MiB, users of the pool (\d)", page),
                         [("24", "1"), ("24", "1"), ("36", "0"), ("24", "0")])

    def test_record_history(self):
        page = run(EXAMPLES / "record_history", self.folder / "run")
        # at the peak: 24 MiB of weights, 6, 7, 8 and 9 of activations, 2 of a gradient
        self.assertRegex(page, r"^\d+ events recorded, 0 dropped\n")
        self.assertIn("run.plim: 56 MiB in 6 allocations at the peak\n", page)
        for name in ("run.pickle", "run.plim"):
            self.assertEqual(self.inspected(name)["peak"]["requested_bytes"], 56 << 20)
        for name in ("run.pickle", "run.plim"):
            text = run(PLIMSOLL, "inspect", self.folder / name)
            self.assertIn("in new_activation", text)
            self.assertNotIn("_start", text)

    def test_remap(self):
        page = run(EXAMPLES / "remap")
        rounds = re.findall(r"round \d: +(\d+) blocks on (\d+) pages, all written; +(\d+) freed, +"
                            r"(\d+) MiB unmapped; +(\d+) blocks stay", page)
        self.assertEqual(len(rounds), 6, page)
        for full, pages, freed, unmapped, stay in (map(int, row) for row in rounds):
            self.assertGreater(pages, 60)
            self.assertEqual(full, freed + stay)
            self.assertGreater(stay, 10)
            self.assertGreater(unmapped, 0)
        again = re.search(r"(\d+) of them where one had been unmapped before", page)
        self.assertGreater(int(again.group(1)), 50)
        self.assertIn(" 0 were wrong. 0 MiB are left mapped.\n", page)

    def embed_cuda(self, conf):
        page = run(EXAMPLES / "embed_cuda", "0", cwd=self.folder, FAKE_CUDA_DEVICES="2",
                   PLIMSOLL_CUDA_DRIVER=str(FAKE_CUDA), PLIMSOLL_NVML=str(FAKE_NVML),
                   PYTORCH_CUDA_ALLOC_CONF=conf)
        self.assertIn(", and 1 more\n", page)
        self.assertIn("CUDA out of memory. Tried to allocate 8.00 GiB. GPU 0", page)
        self.assertIn("That is more than the whole device, 8.00 GiB", page)
        self.assertIn("two threads took memory on two streams", page)
        self.assertIn("the spare memory was given up when it was needed\n", page)
        self.assertEqual(len(self.inspected("out_of_memory.pickle")["ooms"]), 1)
        return page

    def test_embed_cuda(self):
        self.assertIn("not shared: ", self.embed_cuda(""))

    def test_embed_cuda_with_expandable_segments(self):
        self.assertIn("48 MiB left as 3 handles of 20 MiB, 0 MiB into them\n",
                      self.embed_cuda("expandable_segments:True"))

    def test_embed_cuda_without_a_gpu(self):
        words = run(EXAMPLES / "embed_cuda", "0", status=3,
                    PLIMSOLL_CUDA_DRIVER=str(self.folder / "none.so"))
        self.assertRegex(words, r"^embed_cuda: .*none\.so")

    def test_embedding_page_shows_what_is_built(self):
        sources = [" ".join(path.read_text().split())
                   for path in pathlib.Path("examples").glob("*.c")]
        page = pathlib.Path("docs/embedding.md").read_text()
        blocks = re.findall(r"(?ms)^```c\n(.*?)^```", page)
        self.assertGreater(len(blocks), 10)
        for block in blocks:
            words = " ".join(block.split())
            self.assertTrue(any(words in source for source in sources), block)

    def test_what_if(self):
        snapshot = "tests/data/recordings/train_gpt.pickle"
        page = run(EXAMPLES / "what_if", snapshot)
        self.assertIn("GPU 0: 28 of 28 driver calls predicted\n", page)
        self.assertRegex(page, r"GPU 0 under expandable_segments:True: \d+ MiB reserved at most; "
                               r"recorded: 288 MiB\n")
        tuned = json.loads(run(PLIMSOLL, "tune", "--json", snapshot))
        best, before = (tuned["results"][tuned[f"{name}_index"]] for name in ("best", "baseline"))
        self.assertIn(f'best of {len(tuned["results"])}: "{tuned["best"]}" needs '
                      f'{best["min_capacity_bytes"] >> 20} MiB, the recorded settings '
                      f'{before["min_capacity_bytes"] >> 20} MiB, what is live '
                      f'{tuned["floor_bytes"] >> 20} MiB\n', page)
        words = run(EXAMPLES / "what_if", "examples/what_if.c", status=3)
        self.assertRegex(words, r"^what_if: ")

    def test_files_are_named(self):
        for name in ("embed_cuda", "explain_text", "inspect_file", "record_history", "what_if"):
            self.assertRegex(run(EXAMPLES / name, status=2), rf"^usage: {name} [A-Z]")


if __name__ == "__main__":
    unittest.main(verbosity=2)
