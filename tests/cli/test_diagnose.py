#!/usr/bin/env python3
"""test_diagnose.py PLIMSOLL - the command `diagnose`: pages, limits, formats, ranks, documents.

Pages of recordings are compared with tests/golden/diagnose-*.txt; PLIM_BLESS=1 rewrites them.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
GOLDEN = pathlib.Path("tests/golden")
REHEARSALS = pathlib.Path("tests/data/rehearsals")
RECORDINGS = pathlib.Path("tests/data/recordings")
LEAK = str(REHEARSALS / "bug-loss-kept.pickle.zst")
FAILS = str(REHEARSALS / "bug-outputs-kept-oom.pickle.zst")
HEALTHY = str(REHEARSALS / "fixed-loss-kept.pickle.zst")
PAGES = {
    "leak": (LEAK,),
    "leak-all": ("--all", "--gpu=h100", LEAK),
    "leak-fails": (FAILS,),
    "healthy": ("--capacity=16GiB", HEALTHY),
    "exhausted": (str(REHEARSALS / "gpt2-124m-oom.pickle.zst"),),
    "expandable": ("--all", "--top=3", str(REHEARSALS / "gpt2-124m-expandable.pickle.zst")),
    "fragmented": ("--all", "--top=4", str(REHEARSALS / "fsdp-70b-fragmented-oom.pickle.zst")),
    "generate": (str(REHEARSALS / "generate-oom.pickle.zst"),),
    "two-devices": (str(RECORDINGS / "two_devices.pickle.gz"),),
    "one-device": ("--device=1", str(RECORDINGS / "two_devices.pickle.gz")),
    "wrapped": (str(RECORDINGS / "wrapped_history.pickle"),),
    "no-stacks-at-the-failure": (str(RECORDINGS / "out_of_memory.pickle"),),
}
TEXT = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total "
        "capacity of 2.00 GiB of which 480.00 MiB is free. Including non-PyTorch memory, this "
        "process has 1.53 GiB memory in use. Of the allocated memory 1.47 GiB is allocated by "
        "PyTorch, and 59.70 MiB is reserved by PyTorch but unallocated.\n")


def run(*arguments, stdin=None):
    """Replays take what time they have, so that their advice differs from run to run: none here."""
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return subprocess.run([PLIMSOLL, "diagnose", "--budget=0", *arguments],
                          env={**environment, "LC_ALL": "C.UTF-8"}, stdin=stdin or subprocess.DEVNULL,
                          capture_output=True, check=False, timeout=120, text=True)


def document(*arguments):
    return json.loads(run("--json", *arguments).stdout)


class Pages(unittest.TestCase):
    maxDiff = None

    def check(self, name, text):
        path = GOLDEN / f"diagnose-{name}.txt"
        if os.environ.get("PLIM_BLESS"):
            path.write_text(text)
        self.assertEqual(path.read_text(), text)

    def test_pages_are_as_approved(self):
        for name, words in PAGES.items():
            with self.subTest(name):
                done = run(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.check(name, done.stdout)

    def test_count_and_noun_agree(self):
        for name, words in (("collected-once", "This happens 1 time; "),
                            ("memory-bank", " in 1 allocation are live ")):
            page = run("--all", "--width=400", f"tests/data/diagnoses/{name}.pickle.zst").stdout
            self.assertIn(words, page)
            self.assertNotRegex(page, r"\b(?<!the )1 (allocations|times|steps|stacks|tensors)\b")

    def test_the_first_screen_is_one_screen(self):
        for path in sorted(REHEARSALS.glob("*.zst"))[::4]:
            with self.subTest(path.name):
                page = run(str(path)).stdout
                self.assertLessEqual(len(page.splitlines()), 48, page)
                self.assertNotIn("{}", page)

    def test_pages_fit_their_width(self):
        for width in (60, 80, 140):
            lines = run(f"--width={width}", "--all", LEAK).stdout.splitlines()
            too_long = [line for line in lines if len(line) > width and not line.startswith("      ")]
            self.assertEqual(too_long, [])

    def test_health_is_no_surer_than_what_was_recorded(self):
        whole = document(HEALTHY)["devices"][0]
        self.assertEqual((whole["verdict"], whole["truncated"]), ("healthy", False))
        wrapped = document(str(RECORDINGS / "wrapped_history.pickle"))["devices"][0]
        self.assertEqual((wrapped["verdict"], wrapped["truncated"]), ("healthy", True))
        self.assertLess(wrapped["confidence"], whole["confidence"])
        self.assertIn("Nothing is wrong with", run(HEALTHY).stdout)
        self.assertIn("Nothing seems wrong with", run(str(RECORDINGS / "wrapped_history.pickle")).stdout)

    def test_a_device_that_is_not_there_is_named(self):
        self.assertIn("knows no device 7", run("--device=7", LEAK).stdout)


class Limits(unittest.TestCase):
    def exits(self, what, path, expected, said=""):
        done = run(f"--fail-on={what}", path)
        with self.subTest(what):
            self.assertEqual(done.returncode, expected, done.stderr)
            self.assertIn(said, done.stderr)

    def test_verdicts(self):
        self.exits("leak", LEAK, 1, "GPU 0: leak")
        self.exits("any", LEAK, 1, "GPU 0: leak")
        self.exits("fragmented,spike,oversized", LEAK, 0)
        for what in ("any", "leak", "exhausted,unknown,host,capped,other_process,first_step_growth"):
            self.exits(what, HEALTHY, 0)

    def test_bounds(self):
        self.exits("growth>1MiB/step", LEAK, 1, "growth of 4.00 MiB a step exceeds 1.00 MiB")
        self.exits("growth>1MiB", LEAK, 1)
        self.exits("growth>8MiB/step", LEAK, 0)
        self.exits("peak>100MiB", LEAK, 1, "a peak of 175 MiB requested exceeds 100 MiB")
        self.exits("peak>1GiB,reserved>1GiB,fragmentation>99%", LEAK, 0)
        self.exits("reserved>1B", LEAK, 1, "reserved at the peak exceed 1 B")
        self.exits("fragmentation>0.5%", LEAK, 1, "fragmentation of 8.8% exceeds 0.5%")
        self.exits("growth>0", HEALTHY, 0)
        done = run("--fail-on=leak", "--fail-on=peak>1MiB", LEAK)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 2))

    def test_what_is_no_limit_is_wrong_usage(self):
        for what in ("", ",", "leek", "leak,", "healthy", "not_oom", "peak", "peak>", "peak>20", "peak<3GiB",
                     "peak>=3GiB", "fragmentation>20", "fragmentation>120%", "fragmentation>-1%", "growth>1MiB/s",
                     "peak>1MiB/step", "x" * 500, ",".join(["leak"] * 40)):
            with self.subTest(what):
                done = run(f"--fail-on={what}", LEAK)
                self.assertEqual(done.returncode, 2)
                self.assertIn("--fail-on", done.stderr)

    def test_the_status_is_1_for_any_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(HEALTHY, f"{folder}/rank0.zst")
            shutil.copy(LEAK, f"{folder}/rank1.zst")
            done = run("--fail-on=leak", f"{folder}/rank0.zst", f"{folder}/rank1.zst")
            self.assertEqual(done.returncode, 1)
            self.assertIn("rank1.zst, GPU 0: leak", done.stderr)


class Annotations(unittest.TestCase):
    LINE = re.compile(r"::(error|warning|notice) (?:file=[^:,\r\n]+,line=\d+,)?title=[^:,\r\n]+::[^\r\n]+")

    def test_each_is_one_line_that_github_reads(self):
        for path in sorted(REHEARSALS.glob("bug-*.zst")):
            for line in run("--format=github", str(path)).stdout.splitlines():
                self.assertRegex(line, self.LINE)
                self.assertIsNotNone(self.LINE.fullmatch(line))

    def test_they_name_the_line_of_the_leak(self):
        done = run("--format=github", "--fail-on=leak", LEAK)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^::(warning|error) file=[^,]*loss_kept\.py,line=\d+,title=plimsoll%3A leak")
        self.assertNotRegex(done.stdout, r"%(?!0A|0D|25|3A|2C)")

    def test_formats_that_are_not_there(self):
        self.assertEqual(run("--format=html", LEAK).returncode, 2)
        self.assertEqual(run("--format=github", "--json", LEAK).returncode, 2)
        self.assertEqual(run("--format=text", LEAK).stdout, run(LEAK).stdout)


class BadInput(unittest.TestCase):
    def test_files_that_cannot_be_read(self):
        whole = pathlib.Path(LEAK).read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            torn = pathlib.Path(folder, "torn.zst")
            torn.write_bytes(whole[:len(whole) // 2])
            for path in ("not-there.pickle", "README.md", str(torn), folder):
                with self.subTest(path):
                    done = run(path)
                    self.assertEqual(done.returncode, 3)
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    found = document(path)
                    self.assertEqual(found["verdict"], "unknown")
                    self.assertEqual([one["file"] for one in found["errors"]], [path])
            done = run(LEAK, str(torn))
            self.assertEqual(done.returncode, 3)
            self.assertIn("leaks", done.stdout)

    def test_texts_rules_and_sizes_that_cannot_be_read(self):
        self.assertEqual(run("--log=not-there.log", LEAK).returncode, 3)
        self.assertEqual(run("--rules=not-there", LEAK).returncode, 3)
        for words in (("--gpu=abacus",), ("--capacity=20",), ("--budget=soon",), ("--top=0",), ("--device=x",),
                      ("--gpu=rtx4090", "--capacity=80GiB"), ()):
            self.assertEqual(run(*words, *([LEAK] if words else [])).returncode, 2, words)

    def test_standard_input(self):
        with open(LEAK, "rb") as recording:
            self.assertIn("leaks", run("-", stdin=recording).stdout)


class Texts(unittest.TestCase):
    def test_a_message_gives_the_capacity(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "error.txt")
            text.write_text("step 7\n" + TEXT)
            for option in ("--log", "--message"):
                device = document(f"{option}={text}", HEALTHY)["devices"][0]
                self.assertEqual(device["capacity_source"], "message")
                self.assertAlmostEqual(device["capacity_bytes"] / 2**30, 2.0, delta=0.02)
            device = document(f"--log={text}", "--capacity=16GiB", HEALTHY)["devices"][0]
            self.assertEqual((device["capacity_source"], device["capacity_bytes"]), ("given", 16 << 30))

    def test_rules_of_a_file_decide_and_a_wrong_line_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder, "rules")
            rules.write_text("# mine\ncategory mine: size >= 1MiB\n")
            self.assertIn("mine", document(f"--rules={rules}", LEAK)["devices"][0]["composition"]["peak"])
            rules.write_text("# mine\n\ncategory mine size\n")
            done = run(f"--rules={rules}", LEAK)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn("line 3", done.stderr)

    def test_a_gpu_gives_what_its_driver_leaves(self):
        device = document("--gpu=h100", HEALTHY)["devices"][0]
        self.assertEqual(device["capacity_source"], "gpu")
        self.assertTrue(77 < device["capacity_bytes"] / 2**30 < 80)


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for rank, path in enumerate((HEALTHY, LEAK, HEALTHY, HEALTHY)):
            shutil.copy(path, f"{self.folder.name}/rank{rank}.pickle.zst")

    def path(self, rank):
        return f"{self.folder.name}/rank{rank}.pickle.zst"

    def test_one_verdict_and_the_worst(self):
        found = document(*(self.path(rank) for rank in range(4)))
        self.assertEqual(found["verdict"], "leak")
        self.assertEqual((found["ranks"]["count"], found["ranks"]["worst"]), (4, 1))
        self.assertGreater(found["ranks"]["skew"]["max_over_mean"], 1)

    def test_the_order_of_files_does_not_matter(self):
        one = run(*(self.path(rank) for rank in (0, 1, 2, 3))).stdout
        self.assertEqual(one, run(*(self.path(rank) for rank in (3, 1, 0, 2))).stdout)
        self.assertIn("Rank 1 is the worst", one)
        self.assertNotIn("No file of rank", one)

    def test_missing_ranks_are_named(self):
        self.assertIn("No file of rank 1: it", run(self.path(0), self.path(2)).stdout)
        self.assertIn("No file of rank 1 and 1 more", run(self.path(0), self.path(3)).stdout)


class Holders(unittest.TestCase):
    """A document of holders beside a recording is found, and says what keeps a leak."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll holders ")
        self.addCleanup(folder.cleanup)
        self.recording = pathlib.Path(folder.name) / "001-oom.pickle.zst"
        self.beside = pathlib.Path(folder.name) / "001-oom.holders.json"
        shutil.copy(FAILS, self.recording)

    def write(self, **more):
        rows = subprocess.run(
            [PLIMSOLL, "query", "--csv", FAILS,
             "SELECT addr, requested_bytes FROM live('oom:0') WHERE line = 47"],
            capture_output=True, check=True, text=True).stdout.split()[1:]
        blocks = [[int(address), int(size), f"[{i}]"]
                  for i, (address, size) in enumerate(row.split(",") for row in rows)]
        holder = {"id": 0, "kind": "local", "name": "outputs", "type": "list", "device": 0,
                  "text": "list `outputs` in main (outputs_kept.py:20)",
                  "path": ["local outputs"], "file": "outputs_kept.py", "line": 20, "function": "main",
                  "tensors": len(blocks), "bytes": sum(row[1] for row in blocks), "also": [],
                  "blocks": blocks, **more}
        self.beside.write_text(json.dumps({"schema": "holders/1", "moment": "failure",
                                           "is_complete": True, "holders": [holder]}))

    def test_the_holder_is_named_first(self):
        self.write()
        result = run(str(self.recording))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(" ".join(result.stdout.split()),
                         r"- Kept by list `outputs` in main \(outputs_kept.py:20\): "
                         r"344 MiB in 86 of 86 blocks. - 344 MiB in 86 allocations")
        self.assertNotIn("It is kept by", result.stdout)

    def test_the_document_has_it(self):
        self.write()
        finding = document(str(self.recording))["devices"][0]["findings"][0]
        self.assertEqual(finding["cause"], "outputs_kept")
        self.assertEqual(finding["keeper"]["frame"]["line"], 20)
        self.assertEqual(finding["holders"][0]["kind"], "local")
        self.assertEqual(finding["holders"][0]["blocks"], finding["holders"][0]["of_blocks"])
        self.assertEqual(finding["evidence"][0]["id"], "holder")
        page = pathlib.Path("docs/formats/diagnose-json.md").read_text()
        for key in finding["holders"][0]:
            self.assertIn(f"`{key}`", page)

    def test_without_it_nothing_changes(self):
        alone = document(str(self.recording))["devices"][0]
        self.assertNotIn("holders", alone["findings"][0])
        self.write(blocks=[[1, 2, "[0]"]])
        self.assertEqual(document(str(self.recording))["devices"][0], alone)

    def test_a_damaged_one_is_named_and_not_used(self):
        alone = document(str(self.recording))["devices"][0]
        self.beside.write_text('{"schema": "holders/1", "holders": 7}')
        result = run(str(self.recording))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn('The document of holders beside it is not used: "holders" of a document',
                      " ".join(result.stdout.split()))
        self.assertEqual(document(str(self.recording))["devices"][0], alone)


class Documents(unittest.TestCase):
    """docs/formats/diagnose-json.md names every cause and every member."""

    def setUp(self):
        self.page = pathlib.Path("docs/formats/diagnose-json.md").read_text()

    def test_every_cause_is_listed(self):
        header = pathlib.Path("include/plimsoll/diagnose.h").read_text()
        rows = re.findall(r'X\(PLIM_CAUSE_\w+,\s*"(\w+)",\s*(\w+),[\s\\]*((?:"[^"]*"[\s\\]*)+)\)', header)
        self.assertEqual(len(rows), header.count("    X(PLIM_CAUSE_"))
        for name, verdict, texts in rows:
            text = "".join(re.findall(r'"([^"]*)"', texts))
            self.assertIn(f'| `"{name}"` | `{verdict.lower()}` | {text} |', self.page)

    def test_every_member_that_is_written_is_listed(self):
        source = pathlib.Path("src/report/json/diagnose_json.c").read_text()
        keys = set(re.findall(r'(?:plim_json_\w+|member_\w+|write_\w+)\(json, "(\w+)"', source))
        self.assertIn("keeper_confidence", keys)
        for key in sorted(keys):
            self.assertIn(f"`{key}`", self.page)

    def test_no_document_has_another_member(self):
        free = {"figures", "peak"}  # names of figures and of categories
        listed = set(re.findall(r"`(\w+)`", self.page))

        def look(value):
            for key, inner in value.items() if isinstance(value, dict) else ():
                self.assertIn(key, listed)
                if key not in free and key != "says":
                    look(inner)
            for inner in value if isinstance(value, list) else ():
                look(inner)
        for words in PAGES.values():
            files = [word for word in words if not word.startswith("--all") and not word.startswith("--top")]
            look(document(*files))
        look(document(LEAK, HEALTHY, "not-there"))

    def test_verdicts_are_those_of_the_page(self):
        header = pathlib.Path("include/plimsoll/verdict.h").read_text()
        for name in re.findall(r'X\(PLIM_VERDICT_\w+, "(\w+)"\)', header):
            self.assertIn(f'`"{name}"`', self.page)


if __name__ == "__main__":
    unittest.main()
