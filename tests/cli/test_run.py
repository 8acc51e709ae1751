#!/usr/bin/env python3
"""test_run.py PLIMSOLL - the command run as its user meets it, without PyTorch.

The program is run_program.py, which writes what a recorder would. Pages are compared with
tests/golden/run-*.txt; PLIM_BLESS=1 rewrites those.
"""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
GOLDEN = pathlib.Path("tests/golden").resolve()
PROGRAM = str(pathlib.Path(__file__).resolve().with_name("run_program.py"))
AGENT = pathlib.Path(PLIMSOLL).parent / "rehearse" / "agent"
SECONDS = 60


class Run(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="plim run "))  # with blanks
        self.addCleanup(shutil.rmtree, self.place, True)
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith("PLIMSOLL_") and
                 key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "PYTHONPATH")}
        self.environment = {**clean, "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(self.place)}

    def command(self, *words, options=(), python=(sys.executable,)):
        return [PLIMSOLL, "run", *options, "--", *python, PROGRAM, *map(str, words)]

    def run_program(self, *words, options=(), python=(sys.executable,), status=0, **how):
        """The finished process, its streams as text."""
        done = subprocess.run(self.command(*words, options=options, python=python),
                              capture_output=True, env={**self.environment, **how.pop("more", {})},
                              timeout=SECONDS, check=False, **how)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    @property
    def runs(self):
        return sorted((self.place / "plimsoll" / "runs").glob("*"))

    def check_golden(self, name, text):
        text = re.sub(r"/\S*plim run .*/runs/\d{8}-\d{6}-run_program-\d+", "<run>", text)
        path = GOLDEN / f"run-{name}.txt"
        if os.environ.get("PLIM_BLESS"):
            path.write_text(text)
        self.assertTrue(path.exists(), f"{path} is not there; PLIM_BLESS=1 writes it")
        self.assertEqual(path.read_text(), text)

    # --- never in the way

    def test_a_healthy_program_prints_what_it_always_does(self):
        done = self.run_program("healthy")
        self.assertEqual((done.stdout, done.stderr), ("step 1\n", "done\n"))
        self.assertEqual(len(self.runs), 1)

    def test_the_exit_status_is_the_programs(self):
        for status in (0, 1, 2, 3, 42, 255):
            self.assertEqual(self.run_program("status", status, status=status).stderr, "")
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            self.assertEqual(self.run_program("kill", int(number), status=128 + number).stderr, "")

    def test_a_program_that_cannot_be_started(self):
        for words, status in ((["not-there"], 127), ([str(GOLDEN)], 126), ([PROGRAM], 126)):
            done = subprocess.run([PLIMSOLL, "run", "--", *words], capture_output=True,
                                  env=self.environment, timeout=SECONDS, check=False)
            self.assertEqual(done.returncode, status, words)
            self.assertEqual(len(done.stderr.decode().splitlines()), 1, done.stderr)
        self.assertEqual(self.runs, [])

    def test_standard_input_is_the_programs(self):
        self.assertEqual(self.run_program("echo", input=b"a\x00b\n").stdout, "a\x00b\n")

    def test_terminals_stay_terminals(self):
        try:
            control, terminal = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal: {error}")
        done = subprocess.Popen(self.command("terminals"), env=self.environment,
                                stdin=terminal, stdout=terminal, stderr=terminal)
        os.close(terminal)
        seen = b""
        while b"]" not in seen:
            seen += os.read(control, 4096)
        self.assertEqual(done.wait(SECONDS), 0)
        os.close(control)
        self.assertIn(b"[True, True, True]", seen)

    def test_signals_reach_the_program(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with subprocess.Popen(self.command("wait"), env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
                self.assertEqual(done.stdout.readline(), b"ready\n")
                done.send_signal(number)
                rest, errors = done.communicate(timeout=SECONDS)
                self.assertEqual((done.returncode, rest, errors),
                                 (42, f"got {number.name}\n".encode(), b""))

    def test_the_environment_is_the_users_and_ours(self):
        own = self.place / "own"
        own.mkdir()
        (own / "sitecustomize.py").write_text("import sys\nsys.own_sitecustomize = 'mine'\n")
        done = self.run_program("environment", options=("--limit=20GiB", "--dumps=7"),
                                more={"PYTHONPATH": str(own), "PLIMSOLL_STOP_ON": "leak"})
        seen = json.loads(done.stdout)
        self.assertEqual(seen["own"], "mine")
        self.assertNotIn(str(AGENT), seen["path"])
        self.assertIn(str(own), seen["path"])
        changed = {key: value for key, value in seen["environment"].items()
                   if self.environment.get(key) != value}
        changed.pop("LC_CTYPE", None)
        run = changed.pop("PLIMSOLL_RUN")
        self.assertEqual(pathlib.Path(run).parent, self.place / "plimsoll" / "runs")
        self.assertEqual(changed, {"PYTHONPATH": f"{AGENT}:{own}", "PLIMSOLL_RECORD": "ring",
                                   "PLIMSOLL_EVENTS": "100000", "PLIMSOLL_DUMPS": "7",
                                   "PLIMSOLL_LIMIT": str(20 << 30)})

    # --- the folder

    def test_runs_are_kept_and_the_oldest_goes(self):
        for _ in range(3):
            self.run_program("healthy", options=("--keep=2",))
        self.assertEqual(len(self.runs), 2)
        about = json.loads((self.runs[-1] / "run.json").read_text())
        self.assertEqual(about["schema"], "run-folder/1")
        self.assertEqual(about["argv"], [sys.executable, PROGRAM, "healthy"])
        self.assertEqual(about["exit_status"], 0)
        self.assertGreaterEqual(about["ended"], about["started"])

    def test_a_program_without_cuda_leaves_nothing(self):
        self.run_program("status", 1, status=1)
        self.assertEqual(self.runs, [])

    def test_a_chosen_folder_stays_and_is_used_again(self):
        out = self.place / "out"
        for _ in range(2):
            self.run_program("healthy", options=(f"--output={out}",))
            self.assertEqual(len(list(out.glob("*/process.json"))), 1)
        (self.place / "other").mkdir()
        (self.place / "other" / "mine").write_text("")
        done = self.run_program("healthy", options=(f"--output={self.place / 'other'}",), status=3)
        self.assertIn("has other files in it", done.stderr)

    def test_a_run_whose_launcher_was_killed_stays_while_it_lives(self):
        with subprocess.Popen(self.command("wait"), env=self.environment,
                              stdout=subprocess.PIPE) as done:
            self.assertEqual(done.stdout.readline(), b"ready\n")
            run = self.runs[0]
            pid = int(next(run.glob("*/process.json")).parent.name)
            done.kill()
            done.wait(SECONDS)
            self.run_program("healthy", options=("--keep=1",))
            self.assertIn(run, self.runs)
            self.assertIsNone(json.loads((run / "run.json").read_text())["ended"])
            os.kill(pid, signal.SIGKILL)

    def test_without_a_place_it_runs_unrecorded(self):
        (self.place / "file").write_text("")
        nowhere = str(self.place / "file")
        done = self.run_program("status", 7, status=7,
                                more={"XDG_STATE_HOME": nowhere, "TMPDIR": nowhere})
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("the program was not recorded: ", done.stderr)

    # --- what it says

    def test_a_failure_is_explained_below_the_output(self):
        done = self.run_program("out_of_memory", status=1)
        self.assertEqual(done.stdout, "")
        self.check_golden("out-of-memory", done.stderr)

    def test_a_failure_that_was_not_printed_is_explained_from_its_dump(self):
        self.check_golden("silent", self.run_program("silent", status=1).stderr)

    def test_ranks(self):
        self.check_golden("ranks", self.run_program("ranks", status=1).stderr)

    def test_a_stop_is_said(self):
        self.check_golden("stopped", self.run_program("stopped", status=1).stderr)

    def test_a_failure_that_the_recorder_did_not_see(self):
        done = self.run_program("unwatched", python=(sys.executable, "-I"), status=1)
        self.check_golden("unwatched", done.stderr)
        self.assertEqual(self.runs, [])

    def test_quiet_says_nothing(self):
        done = self.run_program("out_of_memory", options=("--quiet",), status=1)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_another_error_after_a_caught_failure_is_no_verdict(self):
        self.assertEqual(len(self.run_program("caught", status=1).stderr.splitlines()), 2)

    def test_a_machine_without_a_gpu(self):
        done = self.run_program("no_gpu", status=1)
        self.assertEqual(done.stderr.splitlines()[1:], [
            "plimsoll run: this machine has no GPU for it: --gpu=NAME runs it over stand-ins for "
            "one"])
        self.assertEqual(len(self.run_program("no_gpu", options=("--quiet",),
                                              status=1).stderr.splitlines()), 1)

    def test_a_recorder_that_could_not_do_all_is_one_line(self):
        done = self.run_program("hindered")
        self.assertIn("the recorder warns: --limit has no effect (and 1 more in ", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.run_program("hindered", options=("--quiet",)).stderr, "")

    def test_texts_of_documents_do_not_speak_to_the_terminal(self):
        done = self.run_program("hostile", status=1)
        self.assertNotIn("\x1b", done.stderr)
        self.assertNotIn("\x07", done.stderr)
        self.assertIn("002-exit.json: is not of schema run-dump/1", done.stderr)

    # --- the document

    def document(self, *words, status=0, options=()):
        done = self.run_program(*words, options=("--json", *options), status=status)
        return json.loads(done.stdout), done.stderr

    def test_the_document_of_a_healthy_run(self):
        document, errors = self.document("healthy")
        self.assertEqual(errors, "step 1\ndone\n")
        self.assertEqual(document["schema"], "run/1")
        self.assertEqual(document["exit_status"], 0)
        self.assertFalse(document["died_of_memory"])
        self.assertIsNone(document["main"])
        self.assertEqual(document["says"], [])
        self.assertEqual(len(document["processes"]), 1)
        self.assertEqual(document["processes"][0]["dumps"][0]["name"], "001-exit")

    def test_the_document_names_the_rank_that_failed_first(self):
        document, _ = self.document("ranks", status=1)
        self.assertTrue(document["died_of_memory"])
        self.assertEqual(document["main"]["pid"], 1_000_000_001)
        self.assertEqual(document["main"]["dump"], "001-oom")
        self.assertEqual([one["rank"] for one in document["processes"]], [0, 1, 2])
        self.assertEqual(document["message"]["verdict"], "exhausted")
        dump = document["processes"][1]["dumps"][0]
        self.assertEqual(dump["where"], "train.py:55 main")
        self.assertEqual(dump["failure"]["verdict"], "exhausted")
        self.assertTrue(document["says"])

    def test_what_the_page_says_the_document_says(self):
        document, _ = self.document("unwatched", status=1)
        self.assertEqual(document["why_unseen"],
                         "no process used CUDA through a PyTorch that it could watch")
        self.assertIsNone(document["folder"])
        self.assertTrue(self.document("no_gpu", status=1)[0]["lacks_gpu"])

    # --- wrong usage

    def test_wrong_usage(self):
        for options in (("--stop-on=",), ("--stop-on=leak,",), ("--stop-on=reserved>0%",),
                        ("--stop-on=reserved>101%",), ("--stop-on=reserved>",),
                        ("--stop-on=reserved>x%",), ("--stop-on=Leak",), ("--record=some",),
                        ("--events=0",), ("--limit=0",), ("--dumps=1",), ("--gpu=none-such",),
                        ("--capacity=2GiB",), ("--conf=a:b", "--gpu=h100"), ("--no-recorder",),
                        ("--no-recorder", "--gpu=h100", "--limit=1GiB")):
            with self.subTest(options):
                done = self.run_program("healthy", options=options, status=2)
                self.assertEqual(done.stdout, "")
        for words in ([], ["--"], ["train.py"]):
            done = subprocess.run([PLIMSOLL, "run", *words], capture_output=True,
                                  env=self.environment, timeout=SECONDS, check=False)
            self.assertEqual(done.returncode, 2)
        self.assertEqual(self.runs, [])

    def test_conditions_to_stop_on(self):
        for words in ("leak", "reserved>95%", "leak,reserved>99.5%", "reserved>100%"):
            self.run_program("healthy", options=(f"--stop-on={words}",))


if __name__ == "__main__":
    unittest.main()
