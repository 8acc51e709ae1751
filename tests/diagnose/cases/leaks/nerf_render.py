"""A radiance field; every fifth step renders a view to look at, with history, and keeps it."""

import math
import types

import torch
from torch import nn

RAYS, SAMPLES, STEPS, EVERY = 128, 16, 24, 5


def encode(x, octaves=4):
    waves = [wave(2**k * math.pi * x) for k in range(octaves) for wave in (torch.sin, torch.cos)]
    return torch.cat([x, *waves], dim=-1)


def field():
    return nn.Sequential(nn.Linear(27, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                         nn.Linear(128, 4)).to("cuda")


def render(model, origins, directions):
    depth = torch.linspace(0.1, 2.0, SAMPLES, device="cuda")
    points = origins[:, None] + directions[:, None] * depth[None, :, None]
    colour, density = model(encode(points)).split((3, 1), dim=-1)
    opacity = 1 - torch.exp(-nn.functional.softplus(density) * 0.1)
    clear = torch.cumprod(1 - opacity + 1e-10, dim=1)
    return (clear * opacity * colour.sigmoid()).sum(dim=1)


def rays():
    return torch.randn(RAYS, 3).cuda(), torch.randn(RAYS, 3).cuda()


run = types.SimpleNamespace(model=field(), gallery=[])
run.optimizer = torch.optim.Adam(run.model.parameters(), lr=5e-4, fused=True)
for step in range(1, STEPS + 1):
    error = (render(run.model, *rays()) - torch.rand(RAYS, 3).cuda()).square().mean()
    error.backward()
    run.optimizer.step()
    run.optimizer.zero_grad()
    if step % EVERY == 0:
        run.gallery.append(render(run.model, *rays()))
