"""A field of light: empty space is skipped, so the number of samples changes in every step."""

import random

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, bands=6, width=192):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(bands))
        self.net = nn.Sequential(nn.Linear(6 * bands, width), nn.ReLU(), nn.Linear(width, width),
                                 nn.ReLU(), nn.Linear(width, 4))

    def forward(self, where):
        waves = (where[..., None] * self.bands).flatten(1)
        return self.net(torch.cat([waves.sin(), waves.cos()], 1))


field, draw = Field().cuda(), random.Random(1)
optimizer = torch.optim.Adam(field.parameters(), fused=True)
grid = None
for step in range(40):
    if step % 8 == 0:  # what is empty, seen anew
        with torch.no_grad():
            grid = field(torch.rand(32768, 3, device="cuda"))[:, 3] > 0.01
    samples = draw.randint(6000, 24000)
    colors = field(torch.rand(samples, 3, device="cuda"))
    colors.sigmoid().square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
