#!/usr/bin/env python3
"""Limits of GPU memory with PyTorch: as on a GPU, by --plimsoll-gpu, and with pytest-xdist.

    test_pytest_with_torch.py PLIMSOLL

Needs PyPI, or what an earlier run had of it: tools/programs-python over the Python with PyTorch
that PLIM_TORCH_PYTHON names. Skipped without.
"""

import unittest

import test_pytest_restart as restart

MODELS = """
import torch
cache = []

def fill(mib):
    cache.append(torch.zeros(mib << 20, dtype=torch.uint8, device="cuda"))
"""
CONFTEST = """
import pytest

@pytest.fixture(scope="session")
def model():
    import torch
    return torch.nn.Linear(4096, 4096, device="cuda")

@pytest.fixture
def batch():
    import torch
    return torch.zeros(8, 4096, device="cuda")
"""
TESTS = """
import asyncio, unittest
import kv, pytest, torch

def take(mib):
    return torch.zeros(mib << 20, dtype=torch.uint8, device="cuda")

@pytest.mark.gpu_memory(limit="64MiB")
def test_within(model, batch):
    x = take(60)

@pytest.mark.gpu_memory(limit="64MiB", left="0B")
def test_over(model):
    x = take(60)
    y = take(20)

@pytest.mark.gpu_memory(left="0B")
def test_leaks(batch):
    kv.fill(24)

@pytest.mark.gpu_memory(left="0B", filter_fn=lambda left: left.name != "cache")
def test_may_leak():
    kv.fill(2)

@pytest.mark.gpu_memory(left="0B")
def test_trains_a_wider_model(model, batch):
    model(batch).sum().backward()

@pytest.mark.gpu_memory(growth="0B/step")
@pytest.mark.parametrize("leaks", [False, True])
def test_trains(leaks):
    model = torch.nn.Linear(1024, 1024, device="cuda")
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for _ in range(5):
        loss = model(torch.zeros(256, 1024, device="cuda"))
        loss.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if leaks:
            losses.append(loss)

@pytest.mark.gpu_memory(growth="0B/run", left="0B")
def test_forward(model, batch):
    with torch.no_grad():
        model(batch)

@pytest.mark.gpu_memory("1MiB")
class TestUnit(unittest.TestCase):
    def test_over(self):
        self.x = take(2)

@pytest.mark.gpu_memory("1MiB")
def test_async():
    async def work():
        take(1)
    asyncio.run(work())

@pytest.mark.gpu_memory("1MiB")
def test_runs_out():
    take(1 << 20)
"""
PASSED = 7
FAILED = ("test_over", "test_trains[True]", "TestUnit::test_over", "test_runs_out")
SAID = (
    "GPU memory: 80.0 MiB allocated at the peak, above the limit of 64MiB\n"
    "64.0 MiB were allocated before the test and are not counted.\n"
    "At the peak\n"
    "  60.0 MiB  test_it.py:6 in take ← test_it.py:14 in test_over, 1 allocation\n"
    "  20.0 MiB  test_it.py:6 in take ← test_it.py:15 in test_over, 1 allocation\n",
    "GPU memory: the test left 24.0 MiB\n"
    "  24.0 MiB  list `cache` of module kv (kv.py), 1 tensor, allocated at kv.py:6 in fill\n",
    "GPU memory grows by 1.00 MiB a step, over 4 optimizer steps, above 0B/step, most of it "
    "allocated at test_it.py:36 test_trains\n",
    "Tests before this one left memory that was still there\n  24.0 MiB  test_it.py::test_leaks\n",
    "plimsoll diagnose ",
)


class Guarded(restart.Suite):
    def setUp(self):
        super().setUp()
        for name, text in (("kv.py", MODELS), ("conftest.py", CONFTEST), ("test_it.py", TESTS)):
            self.write(name, text)

    def holds(self, said, texts=SAID):
        self.assertRegex(said, rf"{len(FAILED)} failed, {PASSED} passed, 1 error in")
        for name in FAILED:
            self.assertIn(f"FAILED test_it.py::{name} ", said)
        self.assertIn("ERROR test_it.py::test_leaks ", said)
        for text in texts:
            self.assertIn(text, said)
        self.assertNotIn("plimsoll could not", said)

    def test_as_on_a_gpu(self):
        words = (restart.PYTHON, "-m", "pytest", *restart.PLUGIN)
        self.holds(self.run_words(restart.PLIMSOLL, "run", "--gpu=rtx4090", "--no-recorder", "--",
                                  *words, status=1))

    def test_with_xdist(self):
        self.holds(self.pytest(restart.GPU, "-n2", status=1), SAID[1:3])


if __name__ == "__main__":
    restart.PYTHON = restart.programs_python()
    unittest.main()
