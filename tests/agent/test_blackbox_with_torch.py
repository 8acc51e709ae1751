#!/usr/bin/env python3
"""The recorder in real PyTorch programs, over the stand-ins: what it writes, and that they go on.

    test_blackbox_with_torch.py PLIMSOLL

with the Python that PLIM_TORCH_PYTHON names and that has PyTorch; without one it is skipped.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest

SKIPPED = 77
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
PLIMSOLL = ""
HUGE = "torch.empty(1 << 44, dtype=torch.uint8, device='cuda')"
TRAIN = """
import os, signal, sys, threading
import torch
def parts():
    net = torch.nn.Linear(512, 512).cuda()
    return net, torch.optim.AdamW(net.parameters())
def step(net, optimizer):
    loss = net(torch.randn(64, 512, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss
"""


class Process:
    """What one process left."""

    def __init__(self, folder):
        self.folder = folder
        self.told = self._read("process.json")
        self.dumps = [self._read(f"{name}.json") for name in self.told["dumps"]]

    def _read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def snapshot(self, number):
        with open(os.path.join(self.folder, self.dumps[number]["snapshot"]), "rb") as file:
            return pickle.load(file)


class RecorderTest(unittest.TestCase):
    maxDiff = None

    def run_program(self, source, options=(), **environment):
        """Runs a program; (how it ended, its processes that used CUDA)."""
        folder = tempfile.mkdtemp(prefix="plim run ")
        self.addCleanup(subprocess.run, ["rm", "-rf", folder], check=True)
        with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as file:
            file.write(TRAIN + textwrap.dedent(source))
        run = os.path.join(folder, "run")
        done = subprocess.run(
            [PLIMSOLL, "run", "--gpu=h100", "--quiet", f"--output={run}", *options, "--", PYTHON,
             "train.py"], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, "PLIMSOLL_LIVE": "off", **environment})
        self.assertNotIn("plimsoll_agent", done.stderr)
        self.assertNotIn("plimsoll:", done.stderr)
        processes = [Process(os.path.join(run, name)) for name in sorted(os.listdir(run))
                     if os.path.exists(os.path.join(run, name, "process.json"))]
        for process in processes:
            self.assertEqual([line for line in process.told["warnings"] if "could not" in line], [])
        return done, processes

    def test_out_of_memory(self):
        done, (process,) = self.run_program(f"""
            def train():
                net, optimizer = parts()
                losses = []
                for turn in range(4):
                    losses.append(step(net, optimizer))
                    if turn == 1:
                        try:
                            {HUGE}
                        except torch.OutOfMemoryError:
                            print("caught")
                {HUGE}
            train()
            """)
        told = process.told
        self.assertEqual((done.stdout, done.returncode), ("caught\n", 1))
        self.assertEqual((told["ended"], told["steps"], told["oom_count"]), ("oom", 4, 2))
        self.assertEqual(told["dumps"], ["001-oom", "002-oom"])
        caught, fatal = process.dumps
        self.assertEqual((caught["where"], caught["step"]), ("train.py:21 train", 3))
        self.assertEqual((fatal["where"], fatal["step"]), ("train.py:24 train", 5))
        self.assertEqual([dump["ends_program"] for dump in process.dumps], [False, True])
        self.assertIn(fatal["error"], done.stderr)
        self.assertEqual(fatal["failure"]["requested_bytes"], 1 << 44)
        self.assertIsNone(caught["snapshot"])
        self.assertLess(caught["seconds"], 5)  # 0.1 where nothing else runs
        (trace,) = [trace for trace in process.snapshot(1)["device_traces"] if trace]
        ooms = [event for event in trace if event["action"] == "oom"]
        self.assertEqual(len(ooms), 2)
        self.assertTrue(any(frame["name"] == "train" for frame in ooms[1]["frames"]))
        (device,) = fatal["devices"]
        self.assertIn("H100", device["name"])
        with open(os.path.join(process.folder, fatal["holders"]), encoding="utf-8") as file:
            holders = json.load(file)["holders"]
        self.assertTrue([one for one in holders if "`net`" in one["text"]], holders)
        self.assertEqual(device["processes"][0]["pid"], told["pid"])
        self.assertGreater(device["free_bytes"], 0)

    def test_in_backward(self):
        """The request comes from a thread of the engine: the frames are the main thread's."""
        _, (process,) = self.run_program("""
            def train():
                x = torch.ones(1 << 33, device="cuda", dtype=torch.float16).requires_grad_()
                y = x * 2
                y.sum().backward()
            train()
            """, options=["--capacity=40GiB"])
        (dump,) = process.dumps
        self.assertEqual(dump["where"], "train.py:17 train")
        self.assertTrue(dump["ends_program"])

    def test_spawned(self):
        _, processes = self.run_program(f"""
            import torch.multiprocessing as mp
            def work(rank):
                kept = torch.ones(1 << 20, device="cuda")
                if rank == 1:
                    {HUGE}
            if __name__ == "__main__":
                try:
                    mp.spawn(work, nprocs=2)
                except Exception:
                    pass
            """)
        ends = sorted(process.told["ended"] for process in processes)
        self.assertIn("oom", ends)
        for process in processes:
            if process.told["ended"] == "oom":
                self.assertTrue(process.dumps[0]["ends_program"])
                self.assertIsNotNone(process.dumps[0]["snapshot"])

    def test_a_healthy_program_with_workers(self):
        done, (process,) = self.run_program("""
            class Rows(torch.utils.data.Dataset):
                def __len__(self):
                    return 16
                def __getitem__(self, index):
                    return torch.full((512,), float(index))
            net, optimizer = parts()
            for rows in torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=2):
                net(rows.cuda()).square().mean().backward()
                optimizer.step()
            threads = [one for one in threading.enumerate()
                       if not one.name.startswith("QueueFeeder")]  # a loader's, which may linger
            print("done", len(threads), signal.getsignal(signal.SIGUSR1) == 0)
            """)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("done 1 True\n", "", 0))
        self.assertEqual((process.told["ended"], process.told["dumps"]), ("exit", ["001-exit"]))
        self.assertEqual(process.told["steps"], 2)

    def test_on_a_signal(self):
        _, (process,) = self.run_program("""
            net, optimizer = parts()
            step(net, optimizer)
            os.kill(os.getpid(), signal.SIGUSR1)
            step(net, optimizer)
            """, options=["--record=off"])
        self.assertEqual(process.told["dumps"], ["001-signal", "002-exit"])
        self.assertEqual(process.dumps[0]["why_no_history"], "nothing was recorded")
        self.assertEqual(process.dumps[0]["step"], 2)
        self.assertTrue(process.snapshot(0)["segments"])

    def test_little_memory(self):
        """The machine has no room for a snapshot: the dump is there all the same."""
        _, (process,) = self.run_program(f"""
            import resource
            net, optimizer = parts()
            step(net, optimizer)
            used = int(open("/proc/self/statm").read().split()[0]) * 4096
            resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), resource.RLIM_INFINITY))
            {HUGE}
            """)
        (dump,) = process.dumps
        self.assertTrue(dump["ends_program"])
        self.assertRegex(dump["why_no_history"] or dump["why_no_snapshot"], "memory|Memory")

    def test_limit(self):
        _, (process,) = self.run_program("""
            kept = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
            torch.cuda.set_per_process_memory_fraction(0.5)
            more = torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
            """, options=["--limit=4GiB"])
        self.assertEqual((process.told["ended"], process.told["limit_bytes"]), ("oom", 4 << 30))
        self.assertEqual(process.dumps[0]["where"], "train.py:16 <module>")


if __name__ == "__main__":
    if not PYTHON:
        print("PLIM_TORCH_PYTHON names no Python that has PyTorch: skipped")
        sys.exit(SKIPPED)
    PLIMSOLL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
