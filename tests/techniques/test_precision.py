#!/usr/bin/env python3
"""test_precision.py PLIMSOLL - autocast, weights, evaluation and attention from outside, computed.

Programs run for real on CPU tensors, plain under --with and with the same written into them: the
losses that they print are equal, digit by digit.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import rehearsals

TRAIN = """
import contextlib, sys, torch
from torch import nn
own = sys.argv[1] == "own"
torch.manual_seed(0)
layers = [nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU()) for _ in range(4)]
model = nn.Sequential(*layers, nn.Linear(64, 10))
def batch():
    return torch.randn(16, 64), torch.randint(10, (16,))
def show(*values):
    print("loss", *(f"{value.item():.9g}" for value in values), flush=True)
"""
AUTOCAST = TRAIN + """
dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[sys.argv[2]]
scaler = torch.amp.GradScaler("cpu", enabled=own and dtype is torch.float16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
def region():
    return torch.autocast("cpu", dtype) if own else contextlib.nullcontext()
for step in range(20):
    total = 0
    for part in range(2):
        x, y = batch()
        with region():
            loss = criterion(model(x), y)
        if step == 3:
            loss = loss * 1e4  # too much for float16
        scaler.scale(loss).backward()
        total += loss.detach()
    if own:
        scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    show(total, norm)
    if step % 7 == 6:
        with torch.no_grad(), region():
            x, y = batch()
            show(criterion(model(x), y))
"""
OWN_AUTOCAST = TRAIN + """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = batch()
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    show(loss)
"""
WEIGHTS = TRAIN + """
if own:
    model.to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x.bfloat16() if own else x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    show(loss)
"""
EVALUATION = TRAIN + """
class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.model, self.drop = model, nn.Dropout(0.1)
    def forward(self, x, *, scale=1.0):
        return self.drop(self.model(x)) * scale
model = Dropping()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(x, y):
    loss = nn.functional.cross_entropy(model(x, scale=0.5), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
for step in range(20):
    model.train()
    show(train(*batch()))
    model.eval()
    x, y = batch()
    show(nn.functional.cross_entropy(model(x), y))
    if step % 5 == 4:
        show(train(*batch()))  # in eval mode after all
"""
ATTENTION = TRAIN + """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
    def forward(self, x):
        out, _ = self.attention(x, x, x, need_weights=not own)
        return x + out
model = nn.Sequential(Block(), Block())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.randn(2, 32, 64)).square().mean()
    loss.backward()
    optimizer.step()
    show(loss)
"""
WRITTEN_OUT = TRAIN + """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(64, 64)
    def forward(self, x):
        x = self.project(x)
        return (x @ x.transpose(1, 2)).softmax(dim=-1) @ x
show(Attention()(torch.randn(2, 32, 64)).mean())
"""
COMPILED = TRAIN + """
from torch._dynamo.utils import counters
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    x, y = batch()
    with torch.autocast("cpu", torch.bfloat16) if own else contextlib.nullcontext():
        loss = nn.functional.cross_entropy(compiled(x), y)
    loss.backward()
    optimizer.step()
    show(loss)
print("loss graphs", counters["stats"]["unique_graphs"], sum(counters["graph_break"].values()))
"""
FORBIDDEN = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(16, 1), nn.Sigmoid()).cuda()
loss = nn.BCELoss()(model(torch.randn(8, 16, device="cuda")), torch.ones(8, 1, device="cuda"))
loss.backward()
"""
ON_THE_CPU = (
    "set_to_none", "inference_mode", "attention=flash", "loss=chunked", "loss=chunked:2", "fused",
    "autocast=bf16", "autocast=fp16", "foreach=off", "empty_cache", "optimizer=in_backward",
    "accumulate=2", "checkpoint", "checkpoint=every:2", "offload=layer_inputs",
    "offload=optimizer", "offload=all_saved", "optimizer=adafactor", "optimizer=sgd",
    "weights=bf16")


class Run:
    """Of a program: its lines of losses, and what became of its technique."""

    def __init__(self, plimsoll, source, arguments, technique=None):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(source))
            output = os.path.join(folder, "run")
            command = [plimsoll, "run", "--gpu=h100", f"--output={output}", "--quiet",
                       *([f"--with={technique}"] if technique else []), "--",
                       rehearsals.PYTHON, path, *arguments]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            self.errors = result.stderr
            self.losses = [line for line in result.stdout.splitlines() if line.startswith("loss")]
            self.entry = {"state": None, "text": None}
            self.warnings = []
            for name in glob.glob(os.path.join(output, "with", "*.json")):
                with open(name, encoding="utf-8") as file:
                    document = json.load(file)
                self.entry = document["techniques"][0]
                self.warnings += document["warnings"]


class Precision(unittest.TestCase):
    plimsoll = None

    def runs(self, *asked):
        """Runs of (source, arguments, technique), two at a time."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda one: Run(self.plimsoll, *one), asked))
        for run in found:
            self.assertTrue(run.losses, run.errors)
            self.assertEqual(run.warnings, [])
        return found

    def same(self, source, technique, *arguments):
        """Plain under a technique, and as the program would be written with it."""
        outside, own = self.runs((source, ["plain", *arguments], technique),
                                 (source, ["own", *arguments], None))
        self.assertEqual(outside.losses, own.losses, outside.entry)
        self.assertEqual(outside.entry["state"], "applied", outside.entry)
        return outside.entry

    def test_autocast_with_loss_scaling_is_pytorchs(self):
        entry = self.same(AUTOCAST, "autocast=fp16", "fp16")
        self.assertIn("1 of 20 steps were left out", entry["text"])

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_autocast_is_a_region_of_the_programs_own(self):
        self.same(AUTOCAST, "autocast=bf16", "bf16")

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_a_program_with_autocast_has_it_already(self):
        (run,) = self.runs((OWN_AUTOCAST, ["plain"], "autocast=bf16"))
        self.assertEqual(run.entry["state"], "no_effect", run.entry)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_a_loss_that_pytorch_forbids_is_a_refusal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FORBIDDEN)
            found = rehearsals.Rehearsed(self.plimsoll, path, ["autocast=bf16"])
        self.assertIn("autocast=bf16 was refused", found.output)
        self.assertNotIn("failed with exit status", found.output)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_compiled_models_have_as_many_graphs(self):
        plain, *runs = self.runs((COMPILED, ["plain"], None),
                                 *((COMPILED, ["plain"], one) for one in ON_THE_CPU))
        self.assertEqual(plain.losses[-1], "loss graphs 1 0")
        for technique, run in zip(ON_THE_CPU, runs):
            with self.subTest(technique=technique):
                self.assertEqual(run.losses[-1], plain.losses[-1], run.entry)
                self.assertNotIn("could not be installed", run.entry["text"] or "")
                if technique.startswith("autocast"):
                    self.assertEqual(run.entry["state"], "applied", run.entry)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_weights_are_those_of_a_cast_model(self):
        self.same(WEIGHTS, "weights=bf16")

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_evaluation_changes_nothing_and_a_backward_pass_may_come(self):
        outside, plain = self.runs((EVALUATION, ["plain"], "inference_mode"),
                                   (EVALUATION, ["plain"], None))
        self.assertEqual(outside.losses, plain.losses)
        self.assertEqual(outside.entry["state"], "applied", outside.entry)
        self.assertIn("1 more were run again", outside.entry["text"])

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_attention_drops_weights_or_says_why_not(self):
        self.same(ATTENTION, "attention=flash")
        (refused,) = self.runs((WRITTEN_OUT, ["plain"], "attention=flash"))
        self.assertEqual(refused.entry["state"], "refused")
        self.assertIn("written out", refused.entry["text"])


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Precision.plimsoll = sys.argv.pop(1)
    unittest.main()
