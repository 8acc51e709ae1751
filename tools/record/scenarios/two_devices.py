"""A model cut in two: the first half on device 0, the second on device 1."""

import torch
from gpt import Block
from torch import nn

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

first = nn.Sequential(Block(256, 4), Block(256, 4)).to("cuda:0")
second = nn.Sequential(Block(256, 4), nn.Linear(256, 1024)).to("cuda:1")
optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()], lr=3e-4)
for step in range(3):
    data = torch.randn(8, 256, 256).to("cuda:0")
    second(first(data).to("cuda:1")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
