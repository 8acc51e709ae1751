"""A mixture of experts: one gets gradients and states only when the router first picks it."""

import random

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rise, self.fall = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.fall(nn.functional.gelu(self.rise(x)))


class Sparse(nn.Module):
    def __init__(self, width=320, experts=8):
        super().__init__()
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))
        self.chance = random.Random(7)

    def forward(self, x):
        """Two experts a batch, as the host draws them; some are rare."""
        weights = [1 / (1 + place) for place in range(len(self.experts))]
        first, second = self.chance.choices(self.experts, weights, k=2)
        return x + first(x) + second(x)


model = nn.Sequential(nn.Linear(64, 320), Sparse(), nn.ReLU(), Sparse(), nn.Linear(320, 10))
model.cuda()
optimizer = torch.optim.Adam(model.parameters(), fused=True)
for _ in range(40):
    tokens = torch.randn(256, 64, device="cuda")
    model(tokens).logsumexp(1).mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
