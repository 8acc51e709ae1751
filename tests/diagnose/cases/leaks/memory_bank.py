"""Contrastive learning with a bank of keys that is concatenated to, and never cut."""

import copy

import torch
from torch import nn
from torch.nn import functional

WIDTH, CODE, BATCH, STEPS = 512, 128, 64, 20


def encoder():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU(),
                         nn.Linear(WIDTH, CODE))


class Momentum:
    def __init__(self):
        self.query = encoder().cuda()
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.bank = torch.randn(256, CODE, device="cuda")

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.mul_(0.99).add_(fast, alpha=0.01)

    @torch.no_grad()
    def remember(self, keys):
        self.bank = torch.cat((keys, self.bank))

    def loss(self, one, other):
        queries = functional.normalize(self.query(one), dim=1)
        with torch.no_grad():
            keys = functional.normalize(self.key(other), dim=1)
        positive = (queries * keys).sum(1, keepdim=True)
        scores = torch.cat((positive, queries @ self.bank.T), dim=1) / 0.07
        self.remember(keys)
        return functional.cross_entropy(scores, torch.zeros(BATCH, dtype=torch.long).cuda())


learner = Momentum()
optimizer = torch.optim.SGD(learner.query.parameters(), lr=0.03)
for _ in range(STEPS):
    image = torch.randn(BATCH, WIDTH)
    loss = learner.loss((image + 0.1).cuda(), (image - 0.1).cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    learner.follow()
