"""Batches that surprise are kept: about three in ten, in no regular order."""

import random

import torch
from torch import nn

STEPS, BATCH = 40, 32

random.seed(14)
model = nn.Sequential(nn.Linear(220, 120), nn.Tanh(), nn.Linear(120, 5)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
surprises = {}
for step in range(STEPS):
    batch = torch.randn(BATCH, 220).cuda()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if random.random() < 0.3:
        surprises[step] = batch
print(f"{len(surprises)} surprises")
