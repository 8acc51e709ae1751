"""A diffusion sampler keeps every intermediate picture of every sampling in its trajectory."""

import torch
from torch import nn

SIDE, BATCH, TIMES, SAMPLINGS = 16, 4, 6, 12


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Linear(1, 32)
        self.before = nn.Conv2d(3, 32, 3, padding=1)
        self.after = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x, time):
        return self.after(nn.functional.silu(self.before(x) + self.time(time)[:, :, None, None]))


class Sampler:
    trajectory = []  # meant for one sampling, shared by all

    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def __call__(self, count):
        x = torch.randn(count, 3, SIDE, SIDE, device="cuda")
        for time in range(TIMES, 0, -1):
            noise = self.model(x, torch.full((count, 1), time / TIMES, device="cuda"))
            x = (x - noise / TIMES).clamp(-1, 1)
            self.trajectory.append(x)
        return x.cpu()


model = Denoiser().cuda()
for _ in range(SAMPLINGS):
    Sampler(model)(BATCH)
