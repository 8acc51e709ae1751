"""A small denoiser; the moving average of its weights is made in step 14 of 32, and stays."""

import copy

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(1000, width)
        self.down = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.mid = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.up = nn.ConvTranspose2d(width, 3, 4, stride=2, padding=1)

    def forward(self, noisy, when):
        h = self.down(noisy) + self.time(when)[:, :, None, None]
        for layer in self.mid:
            h = h + layer(torch.nn.functional.silu(h))
        return self.up(h)


class Average:
    """Nothing until `start`; from then on a second set of weights."""

    def __init__(self, start, decay=0.999):
        self.start, self.decay, self.model = start, decay, None

    @torch.no_grad()
    def update(self, model, step):
        if step < self.start:
            return
        if self.model is None:
            self.model = copy.deepcopy(model).requires_grad_(False)
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()),
                             1 - self.decay)


model = Denoiser().cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
average = Average(start=14)
alphas = torch.linspace(0.999, 0.01, 1000, device="cuda")
for step in range(32):
    clean = torch.randn(8, 3, 64, 64, device="cuda")
    noise = torch.randn_like(clean)
    when = torch.randint(1000, (8,), device="cuda")
    alpha = alphas[when][:, None, None, None]
    guess = model(alpha.sqrt() * clean + (1 - alpha).sqrt() * noise, when)
    nn.functional.mse_loss(guess, noise).backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(model, step)
