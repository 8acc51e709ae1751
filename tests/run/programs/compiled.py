#!/usr/bin/env python3
"""torch.compile: graphs, breaks and recompilations, of modules, functions and an optimizer."""

import torch
from torch import nn
from torch._dynamo.utils import counters

net = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
whole = torch.compile(net)


@torch.compile(backend="aot_eager")
def loss_of(x):
    y = net(x)
    print("a break in the graph")
    return y.square().mean()


@torch.compile(backend="eager", fullgraph=True)
def allocated(x):
    return x + torch.empty(4, device="cuda").shape[0]


@torch.compile(backend="aot_eager")
def step():
    optimizer.step()


for rows in (8, 8, 16, 24):
    x = torch.randn(rows, 256, device="cuda")
    whole(x).sum().backward()
    loss_of(x).backward()
    allocated(x)
    step()
    optimizer.zero_grad()
for name in ("stats", "graph_break", "aot_autograd", "inductor", "recompiles"):
    print(name, sorted(counters[name].items()))
print(torch._dynamo.explain(net)(x).graph_count, torch.cuda.max_memory_allocated(),
      torch.cuda.max_memory_reserved())
