#!/usr/bin/env python3
"""test_outputs.py PLIMSOLL - the page and the document of one run: --json, --document and --page.

Runs from the top of the tree.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
RECORDINGS = "tests/data/recordings"
TRAIN = f"{RECORDINGS}/train_gpt.pickle"
OOM = f"{RECORDINGS}/out_of_memory.pickle"
LOG = "tests/data/messages/leak.log"
QUERY = ("query", TRAIN, "SELECT * FROM peak_by_stack")
COMMANDS = (
    ("inspect", OOM),
    ("inspect", TRAIN, OOM),
    ("diagnose", "--budget=0", OOM),
    ("diagnose", "--budget=0", TRAIN, OOM),
    ("diff", TRAIN, OOM),
    ("explain", LOG),
    ("explain", "README.md"),
    ("replay", "--quick", TRAIN),
    ("tune", "--only", "--conf=expandable_segments:True", TRAIN),
    ("enable", "--status"),
    ("query", "--schema"),
    QUERY,
)
WITH_JSON = ("diagnose", "diff", "disable", "dump", "enable", "explain", "export", "inspect", "query",
             "rehearse", "replay", "run", "tune")


def run(*words, cwd=None, stdin=b""):
    done = subprocess.run([PLIMSOLL, *words], input=stdin, capture_output=True, timeout=120, check=False,
                          cwd=cwd, env={**os.environ, "LC_ALL": "C.UTF-8"})
    done.stdout = done.stdout.decode()
    done.stderr = done.stderr.decode()
    return done


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="with blank ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.document = os.path.join(self.folder, "a document.json")
        self.page = os.path.join(self.folder, "a page.txt")

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def expect_refused(self, words, *said):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for part in said:
            self.assertIn(part, done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    # --- the same bytes, wherever they go

    def test_the_document_beside_the_page(self):
        for words in COMMANDS:
            with self.subTest(words=words):
                document, page = run(*words, "--json"), run(*words)
                both = run(*words, f"--document={self.document}")
                self.assertEqual((both.returncode, both.stdout, both.stderr),
                                 (page.returncode, page.stdout, page.stderr))
                self.assertEqual(self.read(self.document), document.stdout)
                self.assertEqual(os.listdir(self.folder), [os.path.basename(self.document)])
                os.remove(self.document)

    def test_the_page_beside_the_document(self):
        for words in COMMANDS:
            with self.subTest(words=words):
                document, page = run(*words, "--json"), run(*words)
                both = run(*words, "--json", f"--page={self.page}")
                self.assertEqual((both.returncode, both.stdout, both.stderr),
                                 (document.returncode, document.stdout, document.stderr))
                self.assertEqual(self.read(self.page), page.stdout)
                os.remove(self.page)

    def test_both_in_files(self):
        done = run("inspect", OOM, f"--document={self.document}", f"--page={self.page}")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.read(self.document), run("inspect", OOM, "--json").stdout)
        self.assertEqual(self.read(self.page), run("inspect", OOM).stdout)

    def test_colours_and_width_are_those_of_the_options(self):
        looks = ("--color=always", "--width=70")
        run("inspect", OOM, "--json", f"--page={self.page}", *looks)
        self.assertIn("\033[", self.read(self.page))
        self.assertEqual(self.read(self.page), run("inspect", OOM, *looks).stdout)

    def test_rows_as_csv_and_as_a_document(self):
        done = run(*QUERY, "--csv", f"--document={self.document}", f"--page={self.page}")
        self.assertEqual(done.stdout, run(*QUERY, "--csv").stdout)
        self.assertEqual(self.read(self.document), run(*QUERY, "--json").stdout)
        self.assertEqual(self.read(self.page), run(*QUERY).stdout)

    def test_annotations_and_a_document(self):
        words = ("diagnose", "--budget=0", OOM)
        done = run(*words, "--format=github", f"--document={self.document}", f"--page={self.page}")
        self.assertEqual(done.stdout, run(*words, "--format=github").stdout)
        self.assertEqual(self.read(self.document), run(*words, "--json").stdout)
        self.assertEqual(self.read(self.page), run(*words).stdout)

    def test_export_says_what_it_wrote(self):
        target = os.path.join(self.folder, "run.folded")
        done = run("export", TRAIN, "-o", target, f"--document={self.document}")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("run.folded", done.stderr)
        self.assertEqual(json.loads(self.read(self.document))["schema"], "export/1")

    def test_an_export_on_standard_output_has_a_document_too(self):
        done = run("export", TRAIN, "--to=folded", "-o", "-", f"--document={self.document}")
        self.assertEqual(done.stdout, run("export", TRAIN, "--to=folded", "-o", "-").stdout)
        self.assertEqual(json.loads(self.read(self.document))["schema"], "export/1")

    def test_a_command_keeps_its_own_output(self):
        words = ("--", "sh", "-c", f"cat '{LOG}'; exit 1")
        plain = run("explain", *words)
        both = run("explain", f"--document={self.document}", *words)
        self.assertEqual((both.returncode, both.stdout, both.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(json.loads(self.read(self.document))["schema"], "explain/1")

    def test_a_healthy_command_leaves_nothing_to_explain(self):
        done = run("explain", f"--document={self.document}", "--", "echo", "fine")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_that_is_run_keeps_its_own_output(self):
        done = run("run", f"--output={self.folder}/run", f"--document={self.document}", "--",
                   "sh", "-c", "echo out; echo err >&2; exit 4")
        self.assertEqual((done.returncode, done.stdout), (4, "out\n"), done.stderr)
        self.assertIn("err\n", done.stderr)
        self.assertEqual(json.loads(self.read(self.document))["schema"], "run/1")

    # --- failures

    def test_a_file_that_cannot_be_read_is_in_the_document(self):
        for command in ("inspect", "diagnose"):
            done = run(command, "/nonexistent", f"--document={self.document}")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (3, "", 1))
            self.assertEqual(self.read(self.document), run(command, "/nonexistent", "--json").stdout)

    def test_a_wrong_statement_leaves_no_document(self):
        done = run("query", TRAIN, "SELECT nonsense", f"--document={self.document}", f"--page={self.page}")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_folder_that_is_missing(self):
        absent = os.path.join(self.folder, "absent", "file")
        page = run("inspect", OOM).stdout
        done = run("inspect", OOM, f"--document={absent}")
        self.assertEqual((done.returncode, done.stdout), (3, page))  # the page is not lost
        self.assertRegex(done.stderr, r'\Aplimsoll inspect: cannot create ".*absent/file".*\n\Z')
        done = run("inspect", OOM, "--json", f"--page={absent}")
        self.assertEqual((done.returncode, done.stdout), (3, run("inspect", OOM, "--json").stdout))
        self.assertRegex(done.stderr, r'\Aplimsoll inspect: cannot create ".*absent/file".*\n\Z')

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_full_disk(self):
        for words in (("inspect", OOM), ("diagnose", "--budget=0", OOM), QUERY):
            for option in ("--document=/dev/full", "--page=/dev/full"):
                done = run(*words, option)
                self.assertEqual(done.returncode, 3, (words, option))
                self.assertRegex(done.stderr, r'\Aplimsoll \w+: cannot write to "/dev/full": No space.*\n\Z')
            self.assertEqual(run(*words, "--document=/dev/full").stdout, run(*words).stdout)

    def test_what_stood_there_stays_until_the_new_one_is_whole(self):
        with open(self.document, "w", encoding="utf-8") as file:
            file.write("before")
        run("query", TRAIN, "SELECT nonsense", f"--document={self.document}")
        self.assertEqual(self.read(self.document), "before")
        run("inspect", OOM, f"--document={self.document}")
        self.assertEqual(json.loads(self.read(self.document))["schema"], "inspect/1")

    def test_a_pipe_takes_it_too(self):
        reader, writer = os.pipe()
        with os.fdopen(reader) as pipe:
            child = subprocess.Popen([PLIMSOLL, "inspect", OOM, f"--document=/dev/fd/{writer}"],
                                     pass_fds=[writer], stdout=subprocess.DEVNULL)
            os.close(writer)
            self.assertEqual(json.load(pipe)["schema"], "inspect/1")
            self.assertEqual(child.wait(timeout=60), 0)

    # --- wrong usage

    def test_one_place_for_the_document(self):
        self.expect_refused(("inspect", OOM, "--json", f"--document={self.document}"),
                            "--document and --json cannot be combined")

    def test_one_file_for_each(self):
        self.expect_refused(("inspect", OOM, f"--document={self.page}", f"--page={self.page}"),
                            "--document and --page take two files")

    def test_standard_output_has_an_option_already(self):
        for option in ("--document", "--page"):
            self.expect_refused(("inspect", OOM, f"{option}=-"), f"{option} takes the name of a file")

    def test_an_input_is_not_written_to(self):
        copy = os.path.join(self.folder, "run.pickle")
        link = os.path.join(self.folder, "link.pickle")
        with open(OOM, "rb") as file, open(copy, "wb") as target:
            data = file.read()
            target.write(data)
        os.symlink(copy, link)
        for option in ("--document", "--page"):
            for name in (copy, link):
                done = run("inspect", copy, f"{option}={name}")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("is the file to read", done.stderr)
        with open(copy, "rb") as file:
            self.assertEqual(file.read(), data)

    def test_every_command_with_a_document_has_the_options(self):
        for command in WITH_JSON:
            page = run(command, "--help").stdout
            for option in ("json", "document=FILE", "page=FILE"):
                self.assertRegex(page, rf"(?m)^ +--{re.escape(option)} ", command)


if __name__ == "__main__":
    unittest.main()
