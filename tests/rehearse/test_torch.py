#!/usr/bin/env python3
"""test_torch.py PLIMSOLL - rehearsals of real PyTorch, whose figures can be worked out by hand.

Needs a Python that has PyTorch for CUDA, in PLIM_TORCH_PYTHON (tools/torch-python installs one);
without it, it is skipped.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv[1]
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
GIB = 1 << 30

TRAIN = """
import torch
model = torch.nn.Linear(1024, 1024, bias=False, device="cuda")
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for step in range(3):
    model(torch.zeros(16, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("done", torch.cuda.memory_allocated())
"""

EXHAUST = """
import torch
held = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(100)]
"""

TOO_LARGE = """
import torch
model = torch.nn.Linear(4096, 4096, bias=False, device="cuda")
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for step in range(3):
    model(torch.zeros(16, 4096, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

KEEPS_RESULTS = """
import torch
model = torch.nn.Linear(1024, 8192, device="cuda", dtype=torch.float16)
with torch.no_grad():
    kept = [model(torch.zeros(15360, 1024, device="cuda", dtype=torch.float16)) for _ in range(8)]
"""

# 100 MiB of 600 stay in use, and keep the others from a request of 700; all at once are 800 MiB.
FRAGMENTS = """
import torch
first = torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
del first
kept = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
last = torch.empty(700 << 20, dtype=torch.uint8, device="cuda")
"""

LEAKS = """
import torch
model = torch.nn.Linear(1024, 1024, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
while True:
    result = model(torch.zeros(16384, 1024, device="cuda"))
    result.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(result)
"""

FAILS_LATER = """
import torch
held = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
raise ValueError("not this time")
"""

READS = """
import torch
x = torch.arange(10, device="cuda")
if x.sum().item() > 3:
    print("more")
print(len(x.nonzero()))
"""


CHECKS = """
import torch
from torch.distributions import Beta, Categorical, MultivariateNormal, Normal
one = torch.ones(3, device="cuda")
for known in (Normal(one, one), Normal(one[0], one[0]), Beta(one, one), Categorical(probs=one),
              MultivariateNormal(one, torch.eye(3, device="cuda"))):
    known.log_prob(known.sample())
assert Normal(one, one).sample((5,)).shape == (5, 3)
try:
    Normal(torch.zeros(1), -torch.ones(1))
except ValueError:
    print("checked on the host")
"""


STREAMS = """
import torch
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
for _ in range(8):
    with torch.cuda.stream(side):
        batch = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    main.wait_stream(side)
    batch.record_stream(main)
    batch.zero_()
    del batch
"""

# Small blocks wait, and a large one does not.
SMALL_WAITS = STREAMS.replace("64 << 20", "2 << 20").replace(
    "for _", "kept = torch.empty(768 << 20, dtype=torch.uint8, device='cuda')\nfor _")

SHARDED = """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel, wrap
torch.distributed.init_process_group("nccl")
with torch.device("cuda"):
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)])
model = FullyShardedDataParallel(model, limit_all_gathers={limits},
                                 auto_wrap_policy=wrap.ModuleWrapPolicy([torch.nn.Linear]))
model(torch.zeros(8, 1024, device="cuda")).sum().backward()
"""


def reserved(told):
    return told["processes"][0]["devices"][0]["peak_reserved_bytes"]


def rehearse(*words, code=None, program=None):
    command = [PLIMSOLL, "rehearse", "--json", *words, "--", PYTHON]
    command += ["-c", code] if code is not None else program
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done, json.loads(done.stdout) if done.stdout else None


class Torch(unittest.TestCase):
    def test_pytorch_sees_what_was_asked_for(self):
        done, told = rehearse("--gpu=h100", "--capacity=2GiB", "--devices=2",
                              program=[str(HERE / "promises.py")])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["unanswered"], 0)

    def test_weights_gradients_and_states_are_exact(self):
        done, told = rehearse(code=TRAIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        process, = told["processes"]
        self.assertEqual(process["steps"], 3)
        self.assertEqual(process["ended"], "exit")
        device, = process["devices"]
        weight = 1024 * 1024 * 4
        # Weight and Adam's two moments stand; its step counter is on the host with foreach.
        self.assertEqual(device["steps"][-1]["step"], 3)
        self.assertGreaterEqual(device["peak_allocated_bytes"], 5 * weight)
        self.assertEqual(device["peak_phase"], "optimizer")
        gpu, = told["devices"]
        self.assertEqual(gpu["program_bytes"], device["peak_reserved_bytes"])
        self.assertEqual(gpu["peak_bytes"],
                         gpu["program_bytes"] + gpu["context_bytes"] + gpu["libraries_bytes"])

    def test_steps_end_the_program(self):
        done, told = rehearse("--steps=2", code=TRAIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("done", done.stderr)
        self.assertEqual(told["processes"][0]["ended"], "steps")
        self.assertEqual(told["processes"][0]["steps"], 2)

    def test_running_out_is_told_and_explained(self):
        done, told = rehearse("--capacity=4GiB", code=EXHAUST)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["verdict"], "out_of_memory")
        self.assertEqual(told["oom_verdict"], "exhausted")
        oom = told["processes"][0]["ooms"][0]
        self.assertEqual(oom["requested_bytes"], 256 * MIB)
        self.assertIn("CUDA out of memory", oom["text"])
        free = 4 * GIB - told["devices"][0]["context_bytes"]
        self.assertEqual(told["peak_reserved_bytes"], free // (256 * MIB) * 256 * MIB)

    def test_what_ran_out_is_rehearsed_without_the_limit(self):
        done, told = rehearse("--capacity=800MiB", code=TOO_LARGE)
        self.assertEqual(done.returncode, 1, done.stderr)
        need = told["need"]
        self.assertEqual(need["bound"], "exact", need)
        self.assertEqual((need["steps"], need["has_all"]), (3, True))
        self.assertEqual((need["step"], need["phase"]), (1, "optimizer"))
        whole = rehearse("--capacity=24GiB", code=TOO_LARGE)[1]
        for name in ("allocated", "reserved", "device"):
            self.assertEqual(need[f"{name}_bytes"], whole[f"peak_{name}_bytes"])
        bytes_of = {one["category"]: one["bytes"] for one in need["categories"]}
        weight = 4096 * 4096 * 4
        self.assertEqual(bytes_of["parameters"], weight)
        self.assertEqual(bytes_of["gradients"], weight)
        self.assertEqual(bytes_of["optimizer_state"], 2 * weight)
        self.assertEqual(sum(bytes_of.values()), need["allocated_bytes"])
        self.assertEqual(done.stderr.count("OutOfMemoryError"), 1)  # the second run is not heard

    def test_what_it_would_need_is_not_asked_without_retry(self):
        done, told = rehearse("--capacity=800MiB", "--no-retry", code=TOO_LARGE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIsNone(told["need"])

    def test_inference_that_keeps_results_needs_them_all(self):
        done, told = rehearse("--capacity=2GiB", code=KEEPS_RESULTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        need = told["need"]
        self.assertEqual((need["bound"], need["has_backward"]), ("exact", False))
        self.assertGreaterEqual(need["allocated_bytes"], 8 * 240 * MIB)

    def test_advice_is_for_what_runs(self):
        done, told = rehearse("--capacity=2GiB", "--conf=expandable_segments:True",
                              code=KEEPS_RESULTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        said = "\n".join(one.get("text", "") for one in told["says"])
        for absent in ("export PYTORCH_CUDA_ALLOC_CONF", "accumulate", "checkpoint", "AdamW8bit",
                       "in 16 bits"):
            self.assertNotIn(absent, said)
        self.assertIn("results.append(y.cpu())", said)

    def test_advised_settings_are_tried(self):
        done, told = rehearse("--capacity=1536MiB", code=FRAGMENTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([one["settings"] for one in told["tried"]],
                         ["expandable_segments:True", "max_split_size_mb:512"])
        for one in told["tried"]:
            self.assertEqual(one["verdict"], "fits")
            self.assertEqual(one["peak_allocated_bytes"], 800 * MIB)
        self.assertEqual(done.stderr.count("OutOfMemoryError"), 1)  # no other run is heard

    def test_settings_in_force_go_with_those_that_are_tried(self):
        done, told = rehearse("--capacity=1536MiB", "--conf=roundup_power2_divisions:8,"
                              "garbage_collection_threshold:0.9", code=FRAGMENTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        settings = [one["settings"] for one in told["tried"]]
        self.assertEqual(len(settings), 2, settings)
        self.assertIn("roundup_power2_divisions", settings[0])
        self.assertNotIn("garbage_collection_threshold", settings[0])  # they do not go together
        self.assertIn("garbage_collection_threshold:0.9", settings[1])

    def test_settings_that_a_program_overrides_are_not_said_to_be_tried(self):
        own = "import os; os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:700'"
        done, told = rehearse("--capacity=1536MiB", code=own + FRAGMENTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["tried"], [])

    def test_no_setting_is_tried_where_live_data_exceed_the_gpu(self):
        done, told = rehearse("--capacity=1GiB", code=FRAGMENTS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["need"]["allocated_bytes"], 800 * MIB)
        self.assertEqual(told["tried"], [])

    def test_a_leak_needs_more_with_each_step(self):
        done, told = rehearse("--capacity=1GiB", code=LEAKS)
        self.assertEqual(done.returncode, 1, done.stderr)
        need = told["need"]
        self.assertEqual((need["bound"], need["has_all"]), ("at_least", False))
        self.assertEqual(need["growth_bytes"], 64 * MIB)

    def test_a_second_run_that_fails_bounds_the_need(self):
        done, told = rehearse("--capacity=1GiB", code=FAILS_LATER)
        self.assertEqual(done.returncode, 1, done.stderr)
        need = told["need"]
        self.assertEqual(need["bound"], "at_least")
        self.assertIn("ValueError: not this time", need["why"])
        self.assertGreaterEqual(need["allocated_bytes"], 2 * GIB)

    def test_reads_of_values_are_told_with_their_place(self):
        done, told = rehearse(code=READS)
        self.assertEqual(done.returncode, 0, done.stderr)
        reads = told["processes"][0]["value_reads"]
        self.assertTrue(any(":4" in read["where"] for read in reads), reads)
        self.assertTrue(any(":6" in read["where"] for read in reads), reads)

    def test_checks_of_values_succeed_on_the_device_alone(self):
        done, _ = rehearse(code=CHECKS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("checked on the host", done.stderr)

    def test_settings_are_those_that_were_asked_for(self):
        done, told = rehearse("--conf=expandable_segments:True", code=TRAIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["processes"][0]["conf"], "expandable_segments:True")

    def test_a_recording_shows_what_was_told(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run.pickle", "run.plim"):
                path = pathlib.Path(folder) / name
                done, told = rehearse(f"--record={path}", code=TRAIN)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(told["recordings"], [str(path)])
                seen = subprocess.run([PLIMSOLL, "inspect", "--json", path], check=True,
                                      capture_output=True, text=True)
                device = json.loads(seen.stdout)["files"][0]["devices"][0]
                peak = told["processes"][0]["devices"][0]["peak_allocated_bytes"]
                self.assertEqual(device["peak"]["allocated_bytes"], peak)

    def test_blocks_that_wait_for_other_streams_are_told(self):
        done, early = rehearse(code=STREAMS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(reserved(early), 64 * MIB)
        self.assertEqual(early["devices"][0]["waits"], 7)
        said, = (item for item in early["says"] if item["id"] == "waits")
        self.assertIn("7 blocks were freed", said["text"])
        _, late = rehearse("--late", code=STREAMS)
        self.assertEqual(reserved(late), 8 * 64 * MIB)

    def test_what_waits_is_in_the_verdict(self):
        done, roomy = rehearse(code=STREAMS)  # all of it fits: one run is enough
        self.assertEqual((done.returncode, roomy["verdict"]), (0, "fits"), done.stderr)
        self.assertIsNone(roomy["late"])
        self.assertEqual(roomy["devices"][0]["waiting_bytes"], 7 * 64 * MIB)
        self.assertEqual(roomy["peak_device"], roomy["devices"][0]["peak"])
        without = roomy["peak_device"]["high_bytes"] - 7 * 64 * MIB
        self.assertGreaterEqual(without, roomy["peak_device"]["expected_bytes"])

        near = f"--capacity={without // MIB + 40}MiB"
        done, tight = rehearse(near, code=STREAMS)
        self.assertEqual((done.returncode, tight["verdict"]), (1, "tight"), done.stderr)
        self.assertFalse(tight["late"]["ran_out"])
        self.assertGreater(tight["late"]["peak_reserved_bytes"], 64 * MIB)
        self.assertEqual(reserved(tight), 64 * MIB)
        said, = (item for item in tight["says"] if item["id"] == "waits")
        self.assertIn("second run", said["text"])
        _, once = rehearse(near, "--no-retry", code=STREAMS)
        self.assertEqual((once["verdict"], once["late"]), ("tight", None))
        said, = (item for item in once["says"] if item["id"] == "doubt")
        self.assertIn("448 MiB", said["text"])

    def test_a_second_run_finds_that_what_waits_fits(self):
        done, told = rehearse("--capacity=3GiB", code=SMALL_WAITS)
        self.assertEqual((done.returncode, told["verdict"]), (0, "fits"), done.stderr)
        self.assertIsNone(told["late"]["why_unknown"])
        self.assertLess(told["devices"][0]["waiting_bytes"], 40 * MIB)

    def test_gathers_without_a_limit_pile_up_late(self):
        found = []
        for words, limits in ((), False), (("--late",), True), (("--late",), False):
            done, told = rehearse("--world-size=4", *words, code=SHARDED.format(limits=limits))
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append(reserved(told))
        self.assertEqual(found, sorted(set(found)))

    def test_two_runs_agree_to_the_byte(self):
        told = [rehearse(code=TRAIN)[1] for _ in range(2)]
        for one in told:
            for process in one["processes"]:
                del process["pid"], process["import_seconds"], process["total_seconds"]
        self.assertEqual(told[0]["processes"], told[1]["processes"])
        self.assertEqual(told[0]["devices"], told[1]["devices"])
        self.assertEqual(told[0]["calls"], told[1]["calls"])


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python with PyTorch (tools/torch-python)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
