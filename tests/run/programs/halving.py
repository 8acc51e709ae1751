#!/usr/bin/env python3
"""accelerate's find_executable_batch_size, which catches what runs out and halves the batch."""

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch import nn

accelerator = Accelerator()


@find_executable_batch_size(starting_batch_size=1 << 14)
def train(batch_size):
    accelerator.free_memory()
    print("batch size", batch_size)
    net = nn.Sequential(nn.Linear(1024, 1 << 16), nn.ReLU(), nn.Linear(1 << 16, 1024))
    optimizer = torch.optim.AdamW(net.parameters())
    net, optimizer = accelerator.prepare(net, optimizer)
    for _ in range(3):
        x = torch.randn(batch_size, 1024, device=accelerator.device)
        accelerator.backward(net(x).square().mean())
        optimizer.step()
        optimizer.zero_grad()
    return batch_size


print("found", train(), torch.cuda.memory_stats()["num_ooms"])
