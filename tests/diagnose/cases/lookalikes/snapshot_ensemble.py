"""Each cycle of 8 steps leaves a model in an ensemble of four, which is then only asked."""

import copy

import torch
from torch import nn


def fresh():
    return nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 256)).cuda()


def cycle(model, steps=8):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        rows = torch.randn(80, 256, device="cuda")
        (model(rows) - rows.roll(1, 0)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    return copy.deepcopy(model).requires_grad_(False)


model = fresh()
ensemble = [cycle(model) for _ in range(4)]
with torch.no_grad():
    for _ in range(12):
        rows = torch.randn(200, 256, device="cuda")
        torch.stack([member(rows) for member in ensemble]).std(0).mean().item()
