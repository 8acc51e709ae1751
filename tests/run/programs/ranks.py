#!/usr/bin/env python3
"""DistributedDataParallel under torchrun.

    ranks.py               trains
    ranks.py runs-out      rank 1 runs out; the others wait for it
    ranks.py again FILE    rank 1 runs out, but in the restart, which finds FILE, it does not
"""

import os
import sys

import torch
from torch import distributed, nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def run_out(rank):
    held = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(200)]
    print(rank, len(held))


def main():
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    distributed.init_process_group("nccl")
    rank = distributed.get_rank()
    net = nn.parallel.DistributedDataParallel(nn.Linear(512, 512).cuda(), device_ids=[local])
    optimizer = torch.optim.AdamW(net.parameters())
    rows = TensorDataset(torch.zeros(64, 512))
    loader = DataLoader(rows, batch_size=8, sampler=DistributedSampler(rows), num_workers=1)
    for step, (x,) in enumerate(loader):
        if step == 2 and rank == 1 and (how == "runs-out"
                                        or how == "again" and not os.path.exists(sys.argv[2])):
            if how == "again":
                open(sys.argv[2], "w", encoding="utf-8").close()
            run_out(rank)
        net(x.cuda()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    distributed.barrier()
    sys.stdout.write(f"rank {rank} of {distributed.get_world_size()} done with "
                     f"{torch.cuda.max_memory_allocated()} bytes at most\n")
    sys.stdout.flush()
    distributed.destroy_process_group()


main()
