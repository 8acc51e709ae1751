"""Adapters are loaded for each user and stay loaded; every third request is a new user's."""

import torch
from torch import nn

REQUESTS, WIDTH, RANK = 36, 512, 16


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(WIDTH, WIDTH)
        self.adapters = {}

    def load(self, user):
        self.adapters[user] = (torch.zeros(RANK, WIDTH).cuda(), torch.zeros(WIDTH, RANK).cuda())

    def forward(self, user, x):
        if user not in self.adapters:
            self.load(user)
        down, up = self.adapters[user]
        return self.base(x) + x @ down.T @ up.T


with torch.no_grad():
    layers = [Adapted().cuda().eval() for _ in range(2)]
    for request in range(REQUESTS):
        x = torch.randn(6, WIDTH).cuda()
        for layer in layers:
            x = layer(f"user {request // 3}", x).relu()
        x.cpu()
