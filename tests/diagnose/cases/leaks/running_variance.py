"""A normalising layer written by hand forgets to detach its running variance.

The chain of variances is never differentiated, so each link keeps the activations it came from.
"""

import torch
from torch import nn

STEPS, BATCH, WIDTH = 16, 256, 128


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.variance = torch.ones(width, device="cuda")

    def forward(self, x):
        mean = x.mean(dim=0)
        self.variance = 0.9 * self.variance + 0.1 * x.var(dim=0)
        return self.scale * (x - mean) / (x - mean).square().mean(dim=0).add(1e-5).sqrt()


model = nn.Sequential(nn.Linear(64, WIDTH), Norm(WIDTH), nn.ReLU(), nn.Linear(WIDTH, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    x = torch.randn(BATCH, 64).cuda()
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
