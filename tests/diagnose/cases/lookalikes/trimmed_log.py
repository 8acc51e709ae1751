"""A log of gradients is cut to its last 8 entries when it has 20: few, long teeth above a base."""

import torch
from torch import nn


class Log:
    def __init__(self, keep=8, most=20):
        self.entries, self.keep, self.most = [], keep, most

    def __call__(self, gradient):
        self.entries.append(gradient.clone())
        if len(self.entries) == self.most:
            self.entries = self.entries[-self.keep:]


log = Log()
layer = nn.Linear(512, 512).cuda()
layer.weight.register_hook(log)
optimizer = torch.optim.Adam(layer.parameters(), fused=True)
for _ in range(55):
    layer(torch.rand(64, 512, device="cuda")).sin().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
