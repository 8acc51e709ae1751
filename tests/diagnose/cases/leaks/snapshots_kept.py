"""Weights are copied every fourth step, to average the last ones; the older are never dropped."""

import torch
from torch import nn

EVERY, STEPS, BATCH = 4, 28, 64


def model_of(width=384):
    return nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, 32))


class Averager:
    def __init__(self, model):
        self.model = model
        self.copies = []

    def collect(self):
        self.copies.append({name: weight.detach().clone()
                            for name, weight in self.model.named_parameters()})

    def average(self, last=3):
        recent = self.copies[-last:]
        return {name: sum(copy[name] for copy in recent) / len(recent) for name in recent[0]}


model = model_of().cuda()
averager = Averager(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    target = torch.randn(BATCH, 32).cuda()
    loss = (model(torch.randn(BATCH, 256).cuda()) - target).abs().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % EVERY == EVERY - 1:
        averager.collect()
averager.average()
