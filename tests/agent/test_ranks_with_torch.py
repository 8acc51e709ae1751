#!/usr/bin/env python3
"""Many ranks, and one rank of many, in real PyTorch programs.

    test_ranks_with_torch.py PLIMSOLL

with the Python that PLIM_TORCH_PYTHON names and that has PyTorch; without one it is skipped.
"""

import os
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
PYTHON = os.environ.get("PLIM_TORCH_PYTHON", "")
PLIMSOLL = ""
PROGRAM = """
import os
import sys
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh

technique, bound = sys.argv[1], "bound" in sys.argv
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
distributed.init_process_group("nccl", device_id=device if bound else None)
rank, world = distributed.get_rank(), distributed.get_world_size()
assert (rank, world) == (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
assert distributed.get_backend() == "nccl"
WIDTH, LAYERS = 1024, 4
with torch.device(device):
    net = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)])
whole = LAYERS * WIDTH * WIDTH * 4
assert torch.cuda.memory_allocated() == whole
if technique in ("ddp", "zero"):
    net = nn.parallel.DistributedDataParallel(net)
elif technique in ("fsdp", "hsdp"):
    from torch.distributed.fsdp import fully_shard
    shape = (world,) if technique == "fsdp" else (2, world // 2)
    mesh = init_device_mesh("cuda", shape, mesh_dim_names=("copy", "shard")[-len(shape):])
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    assert torch.cuda.memory_allocated() == whole // shape[-1], torch.cuda.memory_allocated()
elif technique == "tp":
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
    from torch.distributed.tensor.parallel import parallelize_module
    plan = {str(i): RowwiseParallel() if i % 2 else ColwiseParallel() for i in range(LAYERS)}
    net = parallelize_module(net, init_device_mesh("cuda", (world,)), plan)
if technique == "zero":
    from torch.distributed.optim import ZeroRedundancyOptimizer
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.AdamW)
else:
    optimizer = torch.optim.AdamW(net.parameters())
for _ in range(3):
    net(torch.randn(8, WIDTH, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
found = [None] * world
distributed.all_gather_object(found, rank)
assert found == (list(range(world)) if "many" in sys.argv else [rank] * world), found
objects = ["said"] if rank == 0 else [None]
distributed.broadcast_object_list(objects, src=0)
assert "many" not in sys.argv or objects == ["said"], objects
numbers = torch.tensor([7, 8] if rank == 0 else [-1, -1], device=device)
distributed.broadcast(numbers, 0)
assert "many" not in sys.argv or numbers.tolist() == [7, 8], numbers
distributed.barrier()
os.write(1, f"\\nrank {rank}: {torch.cuda.max_memory_allocated()}\\n".encode())  # in one piece
if "leave" not in sys.argv:
    distributed.destroy_process_group()
"""


class Ranks(unittest.TestCase):
    def rehearse(self, options, command):
        """Peaks by rank."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            words = [script if word == "SCRIPT" else word for word in command]
            run = subprocess.run([PLIMSOLL, "rehearse", "--gpu=h100", *options, "--", PYTHON,
                                  *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout[-2000:] + run.stderr[-2000:])
        lines = [line.split() for line in run.stdout.splitlines() if line.startswith("rank ")]
        return {int(words[1].rstrip(":")): int(words[2]) for words in lines
                if len(words) == 3 and words[1].endswith(":")}

    def many(self, ranks, *arguments):
        return self.rehearse([f"--devices={ranks}"],
                             ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks),
                              "SCRIPT", *arguments, "many"])

    def one(self, rank, world, *arguments):
        return self.rehearse([f"--world-size={world}", f"--rank={rank}"],
                             ["SCRIPT", *arguments])

    def test_one_rank_of_64(self):
        for technique in ("ddp", "zero", "hsdp", "tp"):
            with self.subTest(technique):
                self.assertEqual(list(self.one(5, 64, technique)), [5])

    def test_rank_zero_that_leaves_without_a_word(self):
        self.assertEqual(list(self.one(0, 64, "fsdp", "leave")), [0])

    def test_many_ranks(self):
        for arguments in (["hsdp", "bound"], ["tp"]):
            with self.subTest(arguments):
                self.assertEqual(sorted(self.many(2, *arguments)), [0, 1])

    def test_one_rank_stands_for_all(self):
        """Of a program whose ranks are alike, one alone has the peak that each has."""
        for technique in ("ddp", "fsdp"):
            with self.subTest(technique):
                peaks = self.many(4, technique)
                self.assertEqual(set(peaks.values()), set(self.one(2, 4, technique).values()))


if __name__ == "__main__":
    PLIMSOLL = sys.argv.pop()
    if not PYTHON:
        print("skipped: PLIM_TORCH_PYTHON names no Python that has PyTorch")
        sys.exit(SKIPPED)
    if os.environ.get("PLIM_TORCH_SHORT"):
        print("skipped: PLIM_TORCH_SHORT asks for little")
        sys.exit(SKIPPED)
    unittest.main(verbosity=0)
