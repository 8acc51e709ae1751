#!/usr/bin/env python3
"""test_optimizers.py PLIMSOLL - techniques that change the optimizer: losses on the CPU, bytes on the device.

Each case is the program below for real under `run`, or rehearsed; a few with PLIM_TORCH_SHORT.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PROGRAM = '''
import glob
import os
import sys
import torch
from torch import nn

device, kind, traits = sys.argv[1], sys.argv[2], sys.argv[3:]
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(50, 96), nn.Linear(96, 64), nn.GELU(), nn.LayerNorm(64),
                      nn.Linear(64, 50)).to(device)
matrices = [one for one in model.parameters() if one.ndim > 1]
vectors = [one for one in model.parameters() if one.ndim < 2]
groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
tokens = torch.randint(50, (20, 16, 8)).to(device)
if kind == "adamw8bit":
    import bitsandbytes
    optimizer = bitsandbytes.optim.AdamW8bit(groups, lr=1e-2)
elif kind == "sgd":
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
else:
    optimizer = torch.optim.AdamW(groups, lr=1e-2)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=30)
passes = nn.functional


def objective(batch):
    return passes.cross_entropy(model(batch)[:, :-1].flatten(0, 1), batch[:, 1:].flatten())


for step in range(20 if device == "cpu" else 3):
    def closure():
        optimizer.zero_grad()
        loss = objective(tokens[step])
        loss.backward()
        return loss
    if "closure" in traits:
        loss = optimizer.step(closure)
    else:
        loss = closure()
        if "twice" in traits:
            objective(tokens[step]).backward()
        if "clip" in traits:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if "rate" in traits:
            optimizer.param_groups[0]["lr"] = 1e-3 * (step + 1)
        optimizer.step()
    scheduler.step()
    if "reload" in traits and step == 10:
        optimizer.load_state_dict(optimizer.state_dict())
    if "probe" in traits and step % 5 == 4:
        model.zero_grad()
        objective(tokens[0]).backward()
        print("norm", sum(one.grad.norm() for one in model.parameters()).item())
        model.zero_grad()
    print("loss", step, loss.item(), optimizer.param_groups[0]["lr"])
print(len(optimizer.state_dict()["state"]), isinstance(optimizer, torch.optim.Optimizer))
if device == "cuda":
    print("states", sum(value.numel() * value.element_size() for state in optimizer.state.values()
                        for key, value in state.items()
                        if torch.is_tensor(value) and value.is_cuda and "qmap" not in key))
for path in glob.glob(os.environ.get("PLIMSOLL_WITH_FOLDER", "/nowhere") + "/*.json"):
    with open(path) as file:  # written after each of the first steps
        print("report", file.read())
'''
LAYERS = """
import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(10)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    torch.cuda.reset_peak_memory_stats()
    model(torch.ones(4, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated())
"""
# A step of its own gets real tensors on the host; that of AdamW gets shapes.
OWN_STEP = """
class Own(torch.optim.AdamW):
    def step(self, closure=None):
        return super().step(closure)
"""
REPORT = """
import glob, json, os
for path in glob.glob(os.environ["PLIMSOLL_WITH_FOLDER"] + "/*.json"):
    with open(path) as file:
        print("host", json.load(file)["techniques"][0]["facts"]["host_bytes"])
"""
LAYER = 4 * 1024 * 1024  # bytes of each of its ten weights
# By hand for optimizer=8bit: elements of the parameters above. Two states of one byte for each
# element, and for each block of 256 a scale of four bytes; below 4096 elements, four bytes each.
SIZES = (50 * 96, 96 * 64, 64, 64, 64, 64 * 50, 50)
BYTES_8BIT = sum(2 * (size + 4 * -(-size // 256)) if size >= 4096 else 2 * 4 * size
                 for size in SIZES)
IN_BACKWARD, OFFLOAD = "optimizer=in_backward", "offload=optimizer"

# (program, technique, its state, words of its text)
EQUAL = (
    ("adamw probe reload", IN_BACKWARD, "applied", "AdamW updates 7 parameters"),
    ("adamw clip", IN_BACKWARD, "refused", "clips their norm"),
    ("sgd closure", IN_BACKWARD, "applied", "SGD updates"),
    ("adamw rate", IN_BACKWARD, "refused", "learning rate"),
    ("sgd closure", OFFLOAD, "no_effect", "on the host already"),
)
SHORT = 1  # of them in a short run


class Optimizers(unittest.TestCase):
    plimsoll = None
    python = None  # with bitsandbytes; None: PyPI cannot be reached

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "program.py")
        with open(cls.path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_it(self, words, techniques=(), command="run", python=None, status=0):
        """(what the program printed, the entry of its report in a list) of one run."""
        device = "cpu" if command == "run" else "cuda"
        with tempfile.TemporaryDirectory() as scratch:
            kept = [f"--output={os.path.join(scratch, 'o')}"] if command == "run" else []
            result = subprocess.run(
                [self.plimsoll, command, "--gpu=h100", *kept,
                 *(f"--with={one}" for one in techniques), "--",
                 python or rehearsals.PYTHON, self.path, device, *words.split()],
                capture_output=True, text=True, check=False)
        lines = result.stdout.splitlines()
        entries = [json.loads(line.partition(" ")[2])["techniques"][0] for line in lines
                   if line.startswith("report ")]
        lines = [line for line in lines if line.startswith(("loss", "norm", "states", "7 "))]
        self.assertEqual(result.returncode, status, result.stderr)
        return lines, entries

    def test_losses_are_those_of_the_plain_program(self):
        cases = EQUAL[:SHORT] if rehearsals.IS_SHORT else EQUAL
        programs = sorted({case[0] for case in cases})
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            plain = dict(zip(programs, pool.map(lambda words: self.run_it(words)[0], programs)))
            with_it = pool.map(lambda case: self.run_it(case[0], [case[1]]), cases)
            for case, (lines, entries) in zip(cases, with_it):
                with self.subTest(case):
                    self.assertGreater(len(lines), 20)
                    self.assertEqual(lines, plain[case[0]])
                    self.assertEqual([one["state"] for one in entries], [case[2]])
                    self.assertIn(case[3], entries[0]["text"])

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_eight_bits(self):
        tools = rehearsals.ROOT / "tools"
        had = subprocess.run([tools / "programs-python", tools / "techniques-requirements.txt"],
                             stdout=subprocess.PIPE, text=True, check=False)
        if had.returncode == rehearsals.SKIPPED:
            self.skipTest("bitsandbytes cannot be installed")
        python = had.stdout.strip()
        own, _ = self.run_it("adamw8bit", python=python)
        lines, entries = self.run_it("adamw", ["optimizer=8bit"], python=python)
        self.assertEqual(entries[0]["state"], "applied", entries)
        self.assertEqual(lines, own)
        lines, _ = self.run_it("adamw", ["optimizer=8bit"], "rehearse", python)
        self.assertIn(f"states {BYTES_8BIT}", lines)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_eight_bits_without_bitsandbytes(self):
        lines, entries = self.run_it("adamw", ["optimizer=8bit"], "rehearse", status=3)
        self.assertEqual(entries[0]["state"], "refused")
        self.assertIn("pip install bitsandbytes", entries[0]["text"])

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_one_gradient_at_a_time(self):
        """Of ten gradients and, of foreach, ten temporaries of the step, one of each is left."""
        path = os.path.join(self.folder.name, "layers.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LAYERS)
        peaks = []
        for words in ([], [f"--with={IN_BACKWARD}"]):
            result = subprocess.run([self.plimsoll, "rehearse", "--gpu=h100", *words, "--",
                                     rehearsals.PYTHON, path],
                                    capture_output=True, text=True, check=False)
            peaks += [int(line.split()[1]) for line in result.stdout.splitlines()
                      if line.startswith("peak ")]
        saved = peaks[0] - peaks[1]
        self.assertLess(abs(saved - 18 * LAYER), LAYER / 10, peaks)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_shapes_on_the_host_stand_for_tensors(self):
        made = "torch.optim.AdamW(model.parameters(), lr=1e-3)"
        own = made.replace("torch.optim.AdamW", "Own")
        found = set()
        for optimizer in (made, own, made.replace("lr=1e-3", "lr=1e-3, fused=True"),
                          made.replace("lr=1e-3", "lr=1e-3, foreach=True")):
            found.add(self.hosted(LAYERS.replace(made, optimizer)))
        self.assertEqual(len(found), 1, found)
        (_, host_bytes), = found
        self.assertEqual(host_bytes, 4 * 10 * LAYER + 4 * 10)  # and a number of steps for each

    def hosted(self, program):
        """(peak of the device, bytes on the host) of a rehearsal."""
        path = os.path.join(self.folder.name, "hosted.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.replace("from torch import nn\n", "from torch import nn\n" + OWN_STEP)
                       + REPORT)
        found = rehearsals.Rehearsed(self.plimsoll, shlex.quote(path), [OFFLOAD])
        self.assertEqual(found.verdict, "fits", found.errors)
        (host_bytes,) = [int(line.split()[1]) for line in found.output.splitlines()
                         if line.startswith("host ")]
        return found.allocated, host_bytes

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_states_on_the_host(self):
        lines, entries = self.run_it("adamw", [OFFLOAD], "rehearse")
        self.assertIn("states 0", lines)
        self.assertEqual(entries[0]["state"], "applied")
        steps = 4 * len(SIZES)
        self.assertEqual(entries[0]["facts"]["host_bytes"], 4 * 4 * sum(SIZES) + steps)


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Optimizers.plimsoll = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
