#!/usr/bin/env python3
"""test_rehearse.py PLIMSOLL CUDA_PROGRAM - the command, over a program of CUDA without PyTorch."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL, PROGRAM = sys.argv[1:3]
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
        zeros = rehearse(program=["alloc", "1", "read", "16"]).stdout.splitlines()[0]
        self.assertEqual(zeros, "00" * 16)
        noise = [rehearse(f"--values={seed}", program=["alloc", "1", "read", "16"])
                 .stdout.splitlines()[0] for seed in (1, 1, 2)]
        self.assertNotEqual(noise[0], zeros)
        self.assertEqual(noise[0], noise[1])
        self.assertNotEqual(noise[0], noise[2])

    def test_the_largest_value_is_exact(self):
        _, one = document("--capacity=8GiB", program=["alloc", "1"])
        free = 8 * GIB - one["devices"][0]["context_bytes"]
        done, told = document("--capacity=8GiB", f"--find-batch={PROGRAM} alloc {{}}")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Whole pages of 2 MiB are what a device gives.
        self.assertEqual(told["best"], free // (2 * MIB) * 2)
        self.assertLess(len(told["tries"]), 24)
        values = [one["value"] for one in told["tries"]]
        self.assertEqual(values, sorted(values))
        self.assertIn(told["best"] + 1, values)

    def test_nothing_fits(self):
        done, told = document("--capacity=1GiB", f"--find-batch={PROGRAM} alloc {{}}000")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIsNone(told["best"])

    def test_a_sweep_tries_each(self):
        done, told = document("--capacity=2GiB", "--sweep=100,200..400+100,500..2000*2",
                              program=["alloc", "{}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["value"] for one in told["tries"]],
                         [100, 200, 300, 400, 500, 1000, 2000])
        self.assertEqual(told["best"], 1000)

    def test_a_search_stops_at_what_is_no_lack_of_memory(self):
        done = rehearse(f"--find-batch={PROGRAM} alloc {{}} fail 9")
        self.assertEqual(done.returncode, 3)
        self.assertIn("something else than memory", done.stderr)

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
        ]:
            with self.subTest(words=words):
                done = rehearse(*words, program=["alloc", "1"])
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertIn(part, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_program_that_is_not_there(self):
        done = subprocess.run([PLIMSOLL, "rehearse", "--", "/nowhere/program"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere/program", done.stderr)

    def test_a_program_without_cuda(self):
        done = subprocess.run([PLIMSOLL, "rehearse", "--python=/bin/true", "--", "/bin/true"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
