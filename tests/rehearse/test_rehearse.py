#!/usr/bin/env python3
"""test_rehearse.py PLIMSOLL CUDA_PROGRAM - the command, over a program of CUDA without PyTorch."""
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

PLIMSOLL, PROGRAM = sys.argv[1:3]
QUOTED = shlex.quote(PROGRAM)
MIB = 1 << 20
GIB = 1 << 30


def rehearse(*words, program=(), **options):
    command = [PLIMSOLL, "rehearse", *words]
    if program:
        command += ["--", PROGRAM, *program]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def document(*words, program=(), **options):
    done = rehearse("--json", *words, program=program, **options)
    return done, json.loads(done.stdout) if done.stdout else None


class Shell:
    """Rehearses lines of a shell, which wants no CUDA itself: a Python of ours names who does."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.temporary = pathlib.Path(self.folder.name, "tmp")
        self.temporary.mkdir()
        python = pathlib.Path(self.folder.name, "python")
        answer = json.dumps({"torch": None, "objects": [PROGRAM]})
        python.write_text(f"#!/bin/sh\necho '{answer}'\n")
        python.chmod(0o700)
        self.command = [PLIMSOLL, "rehearse", "--color=never", f"--python={python}"]
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def words(self, line, *options):
        return [*self.command, *options, "--", "/bin/sh", "-c", line]

    def environment(self, **more):
        ours = {"TMPDIR": str(self.temporary), "CUDA_PROGRAM": PROGRAM}
        return {**os.environ, **ours, **more}

    def run(self, line, *options, more=None, **how):
        how = {"capture_output": True, "timeout": 120, **how}
        environment = self.environment(**(more or {}))
        return subprocess.run(self.words(line, *options), env=environment, **how)

    def left(self):
        return list(self.temporary.iterdir())


class Rehearse(unittest.TestCase):
    def test_what_a_program_takes_is_told_to_the_byte(self):
        done, told = document("--gpu=h100", program=["alloc", "100", "alloc", "300", "free", "info"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["schema"], "rehearse/1")
        self.assertEqual(told["verdict"], "fits")
        device = told["devices"][0]
        self.assertEqual(device["program_bytes"], 400 * MIB)
        self.assertGreater(device["context_bytes"], 100 * MIB)
        self.assertEqual(device["peak_bytes"], 400 * MIB + device["context_bytes"])
        info = next(line for line in done.stderr.splitlines() if line.startswith("info 0"))
        free, total = map(int, info.split()[2:])
        self.assertEqual(total, told["gpu"]["capacity_bytes"])
        self.assertEqual(free, total - 100 * MIB - device["context_bytes"])

    def test_a_margin_that_the_bar_reaches_into_is_tight(self):
        for margin, verdict, status in (("0", "fits", 0), ("2GiB", "fits", 0), ("60%", "tight", 1),
                                        ("7.5GiB", "tight", 1)):
            with self.subTest(margin=margin):
                done, told = document("--gpu=h100", "--capacity=8GiB", f"--margin={margin}",
                                      program=["alloc", "3072"])
                self.assertEqual(told["verdict"], verdict)
                self.assertEqual(done.returncode, status, done.stderr)
        for margin in ("lots", "101%", "-1GiB", "5", "nan%", ""):
            with self.subTest(margin=margin):
                done = rehearse(f"--margin={margin}", program=["alloc", "1"])
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("--margin takes", done.stderr)

    def test_a_bar_encloses_the_peak(self):
        done, told = document("--gpu=h100", program=["alloc", "100"])
        self.assertEqual(done.returncode, 0, done.stderr)
        bar = told["peak_device"]
        self.assertEqual(bar["expected_bytes"], told["peak_device_bytes"])
        self.assertEqual(bar, told["devices"][0]["peak"])
        self.assertLess(bar["low_bytes"], bar["expected_bytes"])
        self.assertGreater(bar["high_bytes"], bar["expected_bytes"])
        self.assertEqual(told["devices"][0]["nvml_v1_peak_bytes"],
                         told["peak_device_bytes"] +
                         told["devices"][0]["driver_reserved_bytes"])

    def test_the_page_answers_first(self):
        done = rehearse("--gpu=rtx4090", "--color=never", program=["alloc", "1024"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("It fits", done.stdout)
        self.assertIn("RTX 4090", done.stdout)

    def test_memory_runs_out_where_the_capacity_says(self):
        done, told = document("--capacity=2GiB", program=["alloc", "1024", "alloc", "1024"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["verdict"], "out_of_memory")
        self.assertEqual(told["gpu"]["capacity_bytes"], 2 * GIB)
        self.assertEqual(told["exit_status"], 5)

    def test_another_failure_is_told_apart(self):
        done, told = document(program=["alloc", "10", "fail", "7"])
        self.assertEqual(done.returncode, 3)
        self.assertEqual(told["verdict"], "failed")
        self.assertEqual(told["exit_status"], 7)

    def test_an_unknown_function_fails_loudly_by_name(self):
        done, told = document(program=["unknown"])
        self.assertEqual(done.returncode, 3)
        self.assertEqual(told["verdict"], "unanswered")
        self.assertIn("cudaNobodyKnowsThis", done.stderr)
        unknown = [call for call in told["calls"] if call["kind"] == "unknown"]
        self.assertEqual([call["function"] for call in unknown], ["cudaNobodyKnowsThis"])

    def test_calls_are_counted(self):
        done, told = document("--trace-calls", program=["alloc", "1", "alloc", "1", "info"])
        counts = {call["function"]: call["count"] for call in told["calls"]}
        self.assertEqual(counts["cudaMalloc"], 2)
        self.assertEqual(counts["cudaMemGetInfo"], 1)
        self.assertIn("cudaMalloc", done.stderr)

    def test_two_processes_share_a_device(self):
        done, told = document("--capacity=4GiB", program=["alloc", "1024", "start", "1024", "info"])
        self.assertEqual(done.returncode, 0, done.stderr)
        device = told["devices"][0]
        self.assertEqual(device["program_bytes"], 2 * GIB)
        self.assertEqual(device["peak_bytes"], 2 * GIB + device["context_bytes"])
        _, one = document("--capacity=3GiB", program=["info"])
        self.assertEqual(device["context_bytes"], 2 * one["devices"][0]["context_bytes"])
        self.assertIn("child 0", done.stderr)

    def test_values_are_zeros_or_seeded_noise(self):
        zeros = rehearse(program=["alloc", "1", "read", "64"]).stdout.splitlines()[0]
        self.assertEqual(zeros, "00" * 64)
        noise = [rehearse(f"--values={seed}", program=["alloc", "1", "read", "64"])
                 .stdout.splitlines()[0] for seed in (1, 1, 2)]
        self.assertNotEqual(noise[0], zeros)
        self.assertEqual(noise[0], noise[1])
        self.assertNotEqual(noise[0], noise[2])

    def test_the_largest_value_is_exact(self):
        _, one = document("--capacity=8GiB", program=["alloc", "1"])
        free = 8 * GIB - one["devices"][0]["context_bytes"]
        done, told = document("--capacity=8GiB", "--accept=tight",
                              f"--find-batch={QUOTED} alloc {{}}")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Whole pages of 2 MiB are what a device gives.
        self.assertEqual(told["best"], free // (2 * MIB) * 2)
        self.assertLess(len(told["tries"]), 24)
        values = [one["value"] for one in told["tries"]]
        self.assertEqual(values, sorted(values))
        self.assertIn(told["best"] + 1, values)
        # One whose error bar reaches beyond the capacity does not fit, unless that is accepted.
        _, sure = document("--capacity=8GiB", f"--find-batch={QUOTED} alloc {{}}")
        self.assertLess(sure["best"], told["best"])
        self.assertEqual([one["verdict"] for one in sure["tries"]
                          if one["value"] == sure["best"] + 1], ["tight"])

    def test_nothing_fits(self):
        done, told = document("--capacity=1GiB", f"--find-batch={QUOTED} alloc {{}}000")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIsNone(told["best"])

    def test_a_sweep_tries_each(self):
        done, told = document("--capacity=2GiB", "--sweep=100,200..400+100,500..2000*2",
                              program=["alloc", "{}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["value"] for one in told["tries"]],
                         [100, 200, 300, 400, 500, 1000, 2000])
        self.assertEqual(told["best"], 1000)

    def test_a_search_stops_at_a_failure_that_is_not_of_memory(self):
        done = rehearse(f"--find-batch={QUOTED} alloc {{}} fail 9")
        self.assertEqual(done.returncode, 3)
        self.assertIn("a reason other than memory", done.stderr)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            before = dict(os.environ, TMPDIR=folder)
            rehearse(program=["alloc", "1"], env=before)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_wrong_usage_is_one_clear_line(self):
        for words, part in [
            (["--gpu=nosuchgpu"], "nosuchgpu"),
            (["--conf=max_split_size_mb:oops"], "max_split_size_mb"),
            (["--devices=0"], "devices"),
            (["--rank=4", "--world-size=4"], "rank"),
            (["--sweep=1,2"], "{}"),
            (["--record=out.txt"], "out.txt"),
            (["--accept=fits"], "fits"),
        ]:
            with self.subTest(words=words):
                done = rehearse(*words, program=["alloc", "1"])
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(part, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_program_that_is_not_there(self):
        done = subprocess.run([PLIMSOLL, "rehearse", "--", "/nowhere/program"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere/program", done.stderr)

    def test_a_script_that_is_not_executable(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, part in (("train.py", "run it with Python: -- python"), ("tool", "chmod")):
                path = pathlib.Path(folder, name)
                path.write_text("print()\n")
                done = subprocess.run([PLIMSOLL, "rehearse", "--", path],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 3)
                self.assertIn("not executable", done.stderr)
                self.assertIn(part, done.stderr)

    def test_a_program_that_uses_no_gpu_did_not_fit(self):
        done, told = document(program=["nothing"])
        self.assertEqual(done.returncode, 3)
        self.assertEqual((told["verdict"], told["exit_status"]), ("failed", 0))
        self.assertEqual(told["reason"]["word"], "no_gpu_used")
        page = rehearse("--color=never", program=["nothing"]).stdout
        self.assertIn("It used no GPU", page)
        self.assertNotIn("Device use", page)
        _, told = document(program=["start", "1"])  # its child does
        self.assertEqual((told["verdict"], told["reason"]), ("fits", None))

    def test_a_program_without_cuda(self):
        done = subprocess.run([PLIMSOLL, "rehearse", "--python=/bin/true", "--", "/bin/true"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Surroundings(unittest.TestCase):
    def test_a_signal_reaches_the_program_and_nothing_is_left(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number), Shell() as shell:
                name = number.name[3:]
                line = f"trap 'echo caught {name}; exit 7' {name}; \"$CUDA_PROGRAM\" alloc 1;" \
                       "echo ready; while :; do sleep 0.1; done"
                with subprocess.Popen(shell.words(line, "--json"), env=shell.environment(),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True) as running:
                    self.assertEqual(running.stderr.readline(), "ready\n")
                    self.assertEqual(len(shell.left()), 1)
                    running.send_signal(number)
                    output, errors = running.communicate(timeout=60)
                self.assertIn(f"caught {name}", errors)
                self.assertEqual(running.returncode, 3)
                self.assertEqual(json.loads(output)["exit_status"], 7)
                self.assertEqual(shell.left(), [])

    def test_a_signal_while_results_are_recorded_waits_for_the_folder_to_go(self):
        with Shell() as shell:
            pipe = pathlib.Path(shell.folder.name, "out.pickle")
            os.mkfifo(pipe)  # writing to it waits for somebody who reads
            result = json.dumps({"version": 1, "pid": 1, "snapshot": "1.json"})
            line = f"echo '{result}' > $PLIMSOLL_REHEARSAL/results/1.json"
            with subprocess.Popen(shell.words(line, f"--record={pipe}"),
                                  env=shell.environment(), stdout=subprocess.PIPE) as running:
                while not self.holds_signals(running.pid):
                    self.assertIsNone(running.poll())
                    time.sleep(0.01)
                running.send_signal(signal.SIGTERM)
                with open(pipe, "rb") as reading:
                    self.assertEqual(json.loads(reading.read())["snapshot"], "1.json")
                running.communicate(timeout=60)
            self.assertEqual(running.returncode, -signal.SIGTERM)
            self.assertEqual(shell.left(), [])

    def holds_signals(self, pid):
        """Whether a process is behind its command's end, for which it blocks SIGCHLD too."""
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        mask = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
        blocked = {number for number in signal.Signals if int(mask.split()[1], 16) >> number - 1 & 1}
        return {signal.SIGINT, signal.SIGTERM} <= blocked and signal.SIGCHLD not in blocked

    def test_a_program_that_dies_of_a_signal_has_its_status(self):
        with Shell() as shell:
            done = shell.run('"$CUDA_PROGRAM" alloc 1; kill -TERM $$', "--json")
            self.assertEqual(done.returncode, 3)
            self.assertEqual(json.loads(done.stdout)["exit_status"], 128 + signal.SIGTERM)
            self.assertEqual(shell.left(), [])

    def test_an_early_end_is_that_and_nothing_else(self):
        for line, word, text in [
            ("echo 'package.SomeError: bad' >&2; exit 1", "program", "package.SomeError: bad"),
            ("echo \"python: can't open file 'a.py'\" >&2; exit 2", "program",
             "can't open file 'a.py'"),
            ("echo 'no error: here'; exit 9", "program", "exit status 9"),
            ("kill -SEGV $$", "signal", "SIGSEGV (segmentation fault)"),
            ("exit 134", "signal", "SIGABRT (aborted)"),
        ]:
            with Shell() as shell, self.subTest(line=line):
                done = shell.run(line, "--json")
                self.assertEqual(done.returncode, 3)
                self.assertEqual(json.loads(done.stdout)["reason"], {"word": word, "text": text})
                done = shell.run(line)
                page = done.stdout.decode()
                self.assertIn(text, page)
                for block in ("Device use", "Modelled", "No process"):
                    self.assertNotIn(block, page)
                done = shell.run(line, f"--record={shell.temporary}/run.pickle")
                self.assertIn(text, done.stdout.decode())

    def test_a_search_that_did_not_end_claims_nothing(self):
        for line, part in [("kill -INT $$", b"interrupted at 2"),
                           ("exit 7", b"reason other than memory: exit status 7")]:
            with Shell() as shell, self.subTest(line=line):
                line = f'"$CUDA_PROGRAM" alloc 1; if [ {{}} = 2 ]; then {line}; fi'
                done = shell.run(line, "--json", "--sweep=1,2,4")
                self.assertEqual(done.returncode, 3)
                self.assertIn(part, done.stderr)
                told = json.loads(done.stdout)
                self.assertEqual((told["best"], told["complete"]), (None, False))
                self.assertEqual([one["verdict"] for one in told["tries"]], ["fits", "failed"])
                page = shell.run(line, "--sweep=1,2,4").stdout
                self.assertNotIn(b"The largest that fits:", page)
                self.assertIn(b"is not known", page)

    def test_what_is_unsure_fits_where_it_is_accepted(self):
        result = json.dumps({"version": 1, "pid": 1, "value_reads": [
            {"where": "a.py:1 f", "what": "nonzero", "count": 1, "why": "a size"}]})
        line = f"\"$CUDA_PROGRAM\" alloc 1; echo '{result}' > $PLIMSOLL_REHEARSAL/results/1.json"
        with Shell() as shell:
            for accept, status, best in (("tight", 1, None), ("tight,at_least", 0, 2)):
                done = shell.run(line, "--json", f"--accept={accept}")
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(json.loads(done.stdout)["verdict"], "at_least")
                done = shell.run(line + " # {}", "--json", f"--accept={accept}", "--sweep=1,2")
                self.assertEqual(done.returncode, status, done.stderr)
                told = json.loads(done.stdout)
                self.assertEqual((told["best"], told["complete"]), (best, True))

    def test_the_page_comes_after_what_the_program_says(self):
        with Shell() as shell:
            done = shell.run('echo first; "$CUDA_PROGRAM" alloc 1; echo second >&2; echo last',
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             capture_output=False)
            words = done.stdout.decode()
            places = [words.index(part) for part in ("first\n", "last\n", "It fits")]
            self.assertEqual(places, sorted(places))
            self.assertIn("second", words)

    def test_a_program_may_close_its_streams(self):
        with Shell() as shell:
            done = shell.run('"$CUDA_PROGRAM" alloc 1; exec >&- 2>&-; "$CUDA_PROGRAM" alloc 2')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"It fits", done.stdout)

    def test_any_bytes_pass_and_the_document_stays_one(self):
        with Shell() as shell:
            line = '"$CUDA_PROGRAM" alloc 1; printf "\\377\\000\\001{bin"; exit 4'
            done = shell.run(line, "--json")
            self.assertEqual(done.stderr, b"\xff\x00\x01{bin")
            self.assertEqual(json.loads(done.stdout)["verdict"], "failed")
            done = shell.run(line + " # {}", "--json", "--sweep=1,2")
            self.assertIn(b"\xff\x00\x01{bin", done.stderr)
            self.assertEqual(len(json.loads(done.stdout)["tries"]), 1)

    def test_what_a_search_meets_that_is_not_stood_in_for_is_named(self):
        with Shell() as shell:
            done = shell.run('"$CUDA_PROGRAM" unknown # {}', "--sweep=1,2")
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"cudaNobodyKnowsThis", done.stderr)

    def test_a_search_for_what_is_not_there_is_one_clear_line(self):
        done = rehearse("--find-batch=/nowhere/program {}")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_output_that_cannot_be_written_is_an_error(self):
        with Shell() as shell:
            for option in ("--json", "--color=never"):
                with open("/dev/full", "wb") as full, self.subTest(option=option):
                    done = shell.run('"$CUDA_PROGRAM" alloc 1', option, stdout=full,
                                     stderr=subprocess.PIPE, capture_output=False)
                    self.assertEqual(done.returncode, 3)
                    self.assertIn(b"cannot write", done.stderr)
                    self.assertEqual(shell.left(), [])

    def test_a_place_for_the_folder_that_cannot_be_used_is_one_clear_line(self):
        with Shell() as shell:
            read_only = pathlib.Path(shell.folder.name, "read-only")
            read_only.mkdir(mode=0o500)
            places = ["/nowhere/at/all"]
            if os.access(read_only, os.W_OK):  # for root every place is one
                print("read-only folders: skipped, this user may write everywhere")
            else:
                places.append(str(read_only))
            for place in places:
                with self.subTest(place=place):
                    done = shell.run("true", more={"TMPDIR": place})
                    self.assertEqual(done.returncode, 3)
                    self.assertEqual(done.stdout, b"")
                    lines = done.stderr.decode().splitlines()
                    self.assertEqual(len(lines), 1, lines)
                    self.assertIn(place, lines[0])
                    self.assertIn("TMPDIR", lines[0])

    def test_blanks_in_the_path_of_the_folder_do_not_matter(self):
        with Shell() as shell:
            place = pathlib.Path(shell.folder.name, "with blank")
            place.mkdir()
            done = shell.run('"$CUDA_PROGRAM" alloc 1', more={"TMPDIR": str(place)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(place.iterdir()), [])

    def told(self, shell, *options, **environment):
        """The program's environment in a rehearsal."""
        done = shell.run('"$CUDA_PROGRAM" alloc 1; env -0 >&2', "--json", *options,
                         more=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(one.split("=", 1) for one in done.stderr.decode().split("\0") if "=" in one)

    def test_what_the_user_preloads_and_imports_stays_behind_ours(self):
        with Shell() as shell:
            told = self.told(shell, LD_PRELOAD="libm.so.6", PYTHONPATH="/theirs:/more")
            first, *others = told["LD_PRELOAD"].split(":")
            self.assertTrue(first.startswith(str(shell.temporary)), told["LD_PRELOAD"])
            self.assertEqual(others[-1], "libm.so.6")
            first, *others = told["PYTHONPATH"].split(":")
            self.assertTrue(pathlib.Path(first, "sitecustomize.py").is_file(), first)
            self.assertEqual(others, ["/theirs", "/more"])

    def test_settings_of_the_environment_give_way_to_ours(self):
        theirs = {"PYTORCH_ALLOC_CONF": "max_split_size_mb:64",
                  "PYTORCH_HIP_ALLOC_CONF": "max_split_size_mb:64",
                  "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128"}
        with Shell() as shell:
            told = self.told(shell, **theirs)
            self.assertEqual({name: told.get(name) for name in theirs}, theirs)
            told = self.told(shell, "--conf=expandable_segments:True", **theirs)
            self.assertEqual({name: told[name] for name in theirs if name in told},
                             {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})

    def test_what_the_user_has_chosen_is_left_alone(self):
        theirs = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_MODULE_LOADING": "EAGER",
                  "PYTHONHASHSEED": "7", "TRITON_CACHE_DIR": "/theirs"}
        with Shell() as shell:
            told = self.told(shell, "--devices=2", **theirs)
            self.assertEqual({name: told.get(name) for name in theirs}, theirs)

    def test_hidden_devices_are_those_of_the_machine(self):
        for hidden in ("", "-1"):
            done, told = document(program=["alloc", "10"],
                                  env=dict(os.environ, CUDA_VISIBLE_DEVICES=hidden))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(told["devices"][0]["program_bytes"], 10 * MIB)

    def test_visible_devices_choose_among_ours(self):
        with Shell() as shell:
            done = shell.run('"$CUDA_PROGRAM" alloc 100', "--json", "--devices=2",
                             more={"CUDA_VISIBLE_DEVICES": "1"})
            devices = json.loads(done.stdout)["devices"]
            self.assertEqual([one["program_bytes"] for one in devices], [0, 100 * MIB])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
