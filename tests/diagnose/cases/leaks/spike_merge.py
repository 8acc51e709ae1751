"""After training, ten averaged copies of the weights are merged by their median: one burst at the
end, or (--load) one at the start: weights in double precision are made smaller."""

import sys

import torch
from torch import nn

STEPS, BATCH, COPIES = 16, 16, 10


def network():
    return nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))


def load():
    weights = {name: torch.zeros(8, *weight.shape, dtype=torch.double, device="cuda")
               for name, weight in network().state_dict().items()}
    return {name: weight.mean(dim=0).float() for name, weight in weights.items()}


def merge(model):
    for weight in model.parameters():
        copies = torch.stack([weight.detach() * (1 + 0.01 * number) for number in range(COPIES)])
        weight.data.copy_(copies.median(dim=0).values)


model = network().cuda()
if "--load" in sys.argv:
    model.load_state_dict(load())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    model(torch.randn(BATCH, 1024).cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
if "--load" not in sys.argv:
    merge(model)
