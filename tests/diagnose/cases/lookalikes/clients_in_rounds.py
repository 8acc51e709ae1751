"""Federated learning: six clients a round keep what they changed until the round is averaged."""

import copy

import torch
from torch import nn


def client(shared, steps=2):
    """Train a copy; return the difference."""
    local = copy.deepcopy(shared)
    optimizer = torch.optim.SGD(local.parameters(), lr=0.1, momentum=0.9, fused=True)
    for _ in range(steps):
        pictures = torch.randn(32, 1, 28, 28, device="cuda")
        local(pictures).logsumexp(1).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        return [new - old for new, old in zip(local.parameters(), shared.parameters())]


@torch.no_grad()
def average(shared, changes):
    for weight, *deltas in zip(shared.parameters(), *changes):
        weight.add_(sum(deltas), alpha=1 / len(deltas))


shared = nn.Sequential(nn.Flatten(), nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 62)).cuda()
for _ in range(4):
    average(shared, [client(shared) for _ in range(6)])
