"""The gradients of all steps are kept, to measure their noise, although zero_grad() drops
them."""

import torch
from torch import nn

STEPS, BATCH = 16, 64


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Tanh(),
                                   nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.inner(x)


class NoiseScale:
    """Ratio of the variance of gradients to their mean."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.seen = []

    def watch(self):
        self.seen.append([weight.grad for weight in self.parameters])

    def report(self):
        return sum(torch.stack(column).var(0).mean() for column in zip(*self.seen)).item()


model = nn.Sequential(*(Residual(192) for _ in range(2)), nn.Linear(192, 8)).cuda()
noise = NoiseScale(model.parameters())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
for step in range(STEPS):
    model(torch.randn(BATCH, 192).cuda()).square().mean().backward()
    noise.watch()
    optimizer.step()
    optimizer.zero_grad()
