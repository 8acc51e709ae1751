"""Rollouts of 2, 4, 6 and more moments are freed: each tooth is higher than the last."""

import torch
from torch import nn


def horizon(rounds):
    for number in range(rounds):
        yield 2 + 2 * number


def explore(model, length):
    """A path through an imagined world, with its history."""
    state = torch.zeros(128, 500, device="cuda")
    path = []
    for _ in range(length):
        state = torch.tanh(model(state))
        path.append(state)
    return path


model = nn.Linear(500, 500).cuda()
optimizer = torch.optim.Adam(model.parameters(), fused=True)
for length in horizon(12):
    path = explore(model, length)
    (torch.stack(path) - 1).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
