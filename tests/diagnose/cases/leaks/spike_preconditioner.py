"""An optimizer written by hand: every eighth step it whitens gradients, with large temporaries."""

import torch
from torch import nn

STEPS, EVERY, BATCH = 24, 8, 32


class Whitened(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.02):
        super().__init__(parameters, {"lr": lr})
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for group in self.param_groups:
            for weight in group["params"]:
                slope = weight.grad
                if slope.ndim == 2 and self.steps % EVERY == 0:
                    slope = self.whiten(slope)
                weight.add_(slope, alpha=-group["lr"])

    @staticmethod
    def whiten(slope):
        """Products of all pairs of columns, for each of four orders."""
        powers = torch.stack([slope**order for order in range(1, 5)])
        pairs = powers[:, :, :, None] * powers[:, :, None, :64]
        return slope / (1 + pairs.mean(dim=(0, 3)))


model = nn.Sequential(nn.Linear(64, 512), nn.Softplus(), nn.Linear(512, 256)).cuda()
optimizer = Whitened(model.parameters())
for _ in range(STEPS):
    model(torch.randn(BATCH, 64).cuda()).abs().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
