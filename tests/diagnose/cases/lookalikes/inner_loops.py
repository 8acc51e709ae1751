"""Meta-learning: the weights of each inner step stay until their batch of tasks is learned from."""

import torch
from torch import nn
from torch.func import functional_call


def adapt(net, weights, task, steps=2, rate=0.1):
    for _ in range(steps):
        given, wanted = task()
        loss = (functional_call(net, weights, given) - wanted).square().mean()
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {name: weight - rate * slope
                   for (name, weight), slope in zip(weights.items(), slopes)}
    return weights


def sine(device="cuda"):
    """A task: a batch of points of one curve each time it is called."""
    def points():
        where = torch.rand(64, 1, device=device)
        return where, where.sin()
    return points


net = nn.Sequential(nn.Linear(1, 4096), nn.ReLU(), nn.Linear(4096, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters(), fused=True)
for batch in range(4):
    losses = []
    for _ in range(3):
        task = sine()
        adapted = adapt(net, dict(net.named_parameters()), task)
        given, wanted = task()
        losses.append((functional_call(net, adapted, given) - wanted).square().mean())
    torch.stack(losses).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
