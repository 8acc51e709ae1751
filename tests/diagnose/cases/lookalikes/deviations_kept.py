"""Averaging with a Gaussian: every 4 steps a deviation of all weights is kept, at most five."""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector


class Gaussian:
    """First and second moments, and the last `rank` deviations."""

    def __init__(self, model, rank=5):
        self.model, self.rank = model, rank
        self.mean = parameters_to_vector(model.parameters()).detach().clone()
        self.square = self.mean.square()
        self.deviations, self.count = [], 1

    @torch.no_grad()
    def collect(self):
        now = parameters_to_vector(self.model.parameters())
        self.count += 1
        self.mean.lerp_(now, 1 / self.count)
        self.square.lerp_(now.square(), 1 / self.count)
        if len(self.deviations) == self.rank:
            del self.deviations[0]
        self.deviations.append(now - self.mean)


regressor = nn.Sequential(nn.Linear(40, 900), nn.Softplus(), nn.Linear(900, 900), nn.Softplus(),
                          nn.Linear(900, 2)).cuda()
gaussian = Gaussian(regressor)
optimizer = torch.optim.SGD(regressor.parameters(), lr=0.01, weight_decay=1e-4, fused=True)
for step in range(1, 49):
    mean, spread = regressor(torch.randn(500, 40, device="cuda")).unbind(1)
    nn.functional.gaussian_nll_loss(mean, torch.zeros_like(mean), spread.exp()).backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 4 == 0:
        gaussian.collect()
