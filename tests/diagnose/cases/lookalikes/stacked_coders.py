"""Layer-wise training: every 5 steps a layer with its own optimizer; older ones are frozen."""

import torch
from torch import nn


def coder(inner, outer):
    return nn.Sequential(nn.Linear(inner, outer), nn.Sigmoid(), nn.Linear(outer, inner)).cuda()


def train(below, layer, steps=5):
    optimizer = torch.optim.Adam(layer.parameters(), fused=True)
    for _ in range(steps):
        with torch.no_grad():
            rows = below(torch.rand(100, 512, device="cuda"))
        (layer(rows) - rows).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    layer.requires_grad_(False)


stack, width = nn.Sequential(), 512
for outer in (512, 512, 448, 448, 384, 384, 320):
    layer = coder(width, outer)
    train(stack, layer)
    stack.append(layer[:2])
    width = outer
