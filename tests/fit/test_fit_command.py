#!/usr/bin/env python3
"""test_fit_command.py PLIMSOLL CUDA_PROGRAM - the command, over programs without PyTorch."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PLIMSOLL, PROGRAM = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fit_program.py")
ONLY = "--only=accumulate=2,checkpoint"


class Fit(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        python = self.folder / "python"
        answer = json.dumps({"torch": None, "objects": [PROGRAM]})
        python.write_text(f"#!/bin/sh\necho '{answer}'\n")
        python.chmod(0o700)
        self.words = [PLIMSOLL, "fit", "--color=never", "--gpu=h100", f"--python={python}"]

    def tearDown(self):
        self.assertEqual(list(self.temporary.iterdir()), [])

    def environment(self):
        taken = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PLIMSOLL_WITH")
        inherited = {key: value for key, value in os.environ.items() if key not in taken}
        return {**inherited, "TMPDIR": str(self.temporary), "LC_ALL": "C.UTF-8",
                "XDG_STATE_HOME": str(self.folder / "state")}

    def run_fit(self, *options, program):
        return subprocess.run([*self.words, *options, "--", *program], capture_output=True,
                              text=True, timeout=120, env=self.environment(), cwd=self.folder,
                              input="a line for a program that reads\n", check=False)

    def fake(self, mib, *words):
        return [sys.executable, FAKE, PROGRAM, str(mib), *words]

    def shell(self, line):
        return ["/bin/sh", "-c", line]

    def document(self, *options, program):
        done = self.run_fit("--json", *options, program=program)
        return done, json.loads(done.stdout)

    @staticmethod
    def stack(trial):
        return " ".join(use["technique"] for use in trial["techniques"])

    def trial(self, document, stack):
        return next(one for one in document["trials"] if self.stack(one) == stack)

    # ---- answers ----

    def test_a_stack_is_found_and_confirmed_twice_the_same(self):
        first, told = self.document("--capacity=4GiB", ONLY, program=self.fake(9000))
        self.assertEqual(first.returncode, 0, first.stderr)
        best = told["trials"][told["cheapest"]]
        self.assertEqual(self.stack(best), "accumulate=2 checkpoint")
        self.assertTrue(best["is_confirmed"] and told["fits"])
        self.assertEqual(told["trials"][told["plain"]]["answer"], "short")
        self.assertLess(best["peak_device_bytes"], 4 << 30)
        self.assertIsNone(best["model_seconds"])  # no work of a GPU was seen
        _, again = self.document("--capacity=4GiB", ONLY, program=self.fake(9000))
        for document in (told, again):
            for one in document["trials"]:
                one.pop("seconds")
        self.assertEqual(told, again)

    def test_what_fits_is_left_as_it_is(self):
        done, told = self.document("--capacity=8GiB", ONLY, program=self.fake(1000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((told["cheapest"], told["roomy"], len(told["trials"])), (0, 0, 1))

    def test_nothing_fits(self):
        done, told = self.document("--capacity=2GiB", ONLY, program=self.fake(30000))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(told["fits"])
        self.assertIsNone(told["cheapest"])
        self.assertGreater(told["missing_bytes"], 6 << 30)
        self.assertTrue(told["enough_gpu"] and told["is_enough_rehearsed"])

    def test_the_smallest_gpu(self):
        self.words.remove("--gpu=h100")
        done, told = self.document("--gpu=any", program=self.fake(20000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["gpu"]["key"], told["enough_gpu"])
        self.assertTrue(told["is_enough_rehearsed"])
        self.assertLess(told["gpu"]["capacity_bytes"], 25 << 30)

    def test_a_margin_is_kept_free(self):
        done, told = self.document("--capacity=8GiB", "--margin=50%", ONLY,
                                   program=self.fake(5000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["plain"], 0)
        self.assertGreater(told["cheapest"], 0)

    # ---- techniques ----

    def test_what_breaks_is_said_and_the_search_goes_on(self):
        done, told = self.document("--capacity=8GiB", "--only=autocast,checkpoint",
                                   program=self.fake(14500, "broken=autocast"))
        self.assertEqual(done.returncode, 0, done.stderr)
        broken = self.trial(told, "autocast=bf16")
        self.assertEqual(broken["answer"], "broken")
        self.assertEqual(self.stack(told["trials"][told["cheapest"]]), "checkpoint")

    def test_what_has_no_effect_or_is_refused_is_said(self):
        for how, answer, words in (("idle", "no_effect", "no effect: of the test"),
                                   ("refused", "refused", "refused: of the test")):
            with self.subTest(how):
                done = self.run_fit("--capacity=8GiB", "--only=fused,checkpoint",
                                    "--document=fit.json",
                                    program=self.fake(14000, f"{how}=fused"))
                told = json.loads((self.folder / "fit.json").read_text())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.trial(told, "fused")["answer"], answer)
                self.assertIn(f"fused: {words}", done.stdout)

    def test_a_program_that_is_not_python_takes_no_technique(self):
        done, told = self.document("--capacity=2GiB", ONLY, program=[PROGRAM, "alloc", "4000"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({one["answer"] for one in told["trials"][1:]}, {"no_effect"})

    def test_programs_that_take_a_port_run_one_after_the_other(self):
        (self.folder / "port.py").write_text(
            "import os, socket, sys, time\n"
            "taken = os.path.join(sys.argv[3], 'taken')\n"
            "try:\n    os.mkdir(taken)\n"
            "except OSError:\n"
            "    print('OSError: [Errno 98] Address already in use', file=sys.stderr)\n"
            "    sys.exit(1)\n"
            "try:\n    time.sleep(1)\n"
            "finally:\n    os.rmdir(taken)\n"
            "os.execv(sys.argv[1], [sys.argv[1], 'alloc', sys.argv[2]])\n")
        done, told = self.document("--capacity=2GiB", "--only=fused", program=[
            sys.executable, "port.py", PROGRAM, "3000", str(self.folder)])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([one["answer"] for one in told["trials"]], ["short", "no_effect"])

    # ---- starting it for real ----

    def test_apply_starts_it_with_the_stack_after_the_page(self):
        done = self.run_fit("--capacity=4GiB", ONLY, "--apply",
                            program=self.fake(9000, "exit=5"))
        self.assertEqual(done.returncode, 5, done.stderr)
        page, _, started = done.stdout.partition("started with")
        self.assertIn("It fits with accumulate=2 checkpoint", page)
        self.assertEqual(started.strip(), "['accumulate=2', 'checkpoint'] None")
        self.assertEqual(done.stderr.count("never came to it"), 2)  # no PyTorch: no agent

    def test_apply_hands_settings_over_and_keeps_the_document_clean(self):
        done, told = self.document("--capacity=6GiB", "--conf=max_split_size_mb:64",
                                   "--only=conf,checkpoint", "--apply",
                                   program=self.fake(9000, "exit=0"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stack(told["trials"][told["cheapest"]]), "checkpoint")
        self.assertIn("started with ['checkpoint'] max_split_size_mb:64", done.stderr)

    def test_apply_starts_nothing_that_does_not_fit(self):
        done = self.run_fit("--capacity=2GiB", ONLY, "--apply", program=self.fake(30000))
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("started with", done.stdout)
        self.assertIn("the program was not started", done.stderr)

    def test_apply_starts_what_fits_as_it_is(self):
        done = self.run_fit("--capacity=8GiB", "--apply", program=self.fake(100, "exit=4"))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("started with [] None", done.stdout)

    # ---- ends ----

    def test_a_budget_ends_rehearsals(self):
        began = time.monotonic()
        done, told = self.document("--capacity=2GiB", ONLY, "--budget=4s",
                                   program=self.fake(9000, "slow=100"))
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["stopped"], "budget")
        for one in told["trials"][1:]:
            self.assertEqual((one["answer"], one["reason"]),
                             ("unknown", "the budget of time ended"))

    def test_an_interruption_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = subprocess.Popen(
                    [*self.words, "--", *self.shell("sleep 100 & echo $! $$ >> pids; wait")],
                    cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)
                pids = self.folder / "pids"
                until = time.monotonic() + 30
                while (not pids.exists() or len(pids.read_text().split()) < 4) \
                        and time.monotonic() < until:
                    time.sleep(0.05)
                process.send_signal(number)
                _, errors = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 3)
                self.assertIn("interrupted", errors)
                for pid in pids.read_text().split():
                    with self.assertRaises(ProcessLookupError):
                        os.kill(int(pid), 0)
                pids.unlink()

    # ---- programs of all kinds ----

    def test_a_program_that_cannot_be_rehearsed_has_a_reason(self):
        for line, reason in (
                ("exit 7", "exit status 7"),
                ("kill -SEGV $$", "SIGSEGV"),
                ("true", "wants no CUDA"),
                ("cat no-such-file; exit 2", "exit status 2"),
                (f"{shlex.quote(PROGRAM)} alloc 10 fail 9", "exit status 9"),
                (f"{shlex.quote(PROGRAM)} unknown", "has no stand-in")):
            with self.subTest(line):
                done, told = self.document(program=self.shell(line))
                self.assertEqual(done.returncode, 3, done.stderr)
                plain = told["trials"][0]
                self.assertEqual(plain["answer"], "unknown")
                if reason != "wants no CUDA":
                    self.assertIn(reason, plain["reason"])
                self.assertEqual((told["fits"], len(told["trials"])), (False, 1))
                said = "\n".join(one["text"] for one in told["says"] if "text" in one)
                self.assertIn("could not be rehearsed", said)

    def test_a_command_that_is_not_there(self):
        done = self.run_fit(program=["no-such-program-here"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot find", done.stderr)

    def test_output_input_and_children_of_the_program_do_no_harm(self):
        quoted = shlex.quote(PROGRAM)
        for line in (f"yes a line of output | head -c 20000000; yes more | head -c 20000000 >&2; "
                     f"exec {quoted} alloc 100",
                     f"read line; test -z \"$line\" || exit 9; exec {quoted} alloc 100",
                     f"sleep 50 & sleep 51 & {quoted} alloc 100"):
            with self.subTest(line):
                began = time.monotonic()
                done, told = self.document(program=self.shell(line))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(told["cheapest"], 0)
                self.assertLess(time.monotonic() - began, 30)

    # ---- usage ----

    def test_wrong_usage_is_found_before_anything_runs(self):
        marker = self.folder / "ran"
        for words, said in (
                (["--only=acc"], 'no technique is called "acc"'),
                (["--only=accumulate=3"], "does not try accumulate=3"),
                (["--only=optimizer=8bit"], "changes the result"),
                (["--only=checkpoint,kv=window:9"], "does not try kv=window:9"),
                (["--also=checkpoint offload=layer_inputs"], "do not go together"),
                (["--also=nothing"], "no technique is called"),
                (["--also="], "--also takes"),
                (["--margin=lots"], "--margin takes"),
                (["--margin=101%"], "--margin takes"),
                (["--conf=no_such:1"], "--conf:"),
                (["--gpu=tesla9000"], "--gpu:"),
                (["--gpu=any", "--capacity=2GiB"], "--gpu=any"),
                (["--gpu=any", "--apply"], "--gpu=any"),
                (["--allow=all"], "--allow takes"),
                (["--budget=soon"], "--budget"),
                (["--steps=0"], "--steps")):
            with self.subTest(words):
                done = self.run_fit(*words, program=["/bin/sh", "-c", f"touch {marker}"])
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(said, done.stderr)
        self.assertFalse(marker.exists())

    def test_names_may_be_changed_ones_where_that_is_allowed(self):
        done, told = self.document("--capacity=8GiB", "--only=optimizer=8bit", "--only=checkpoint",
                                   "--allow=changed", program=self.fake(14000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({self.stack(one).split("=")[0] for one in told["trials"][1:3]},
                         {"optimizer", "checkpoint"})


if __name__ == "__main__":
    unittest.main()
