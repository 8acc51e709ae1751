"""Texts of all lengths; of each batch a vector of 2 KiB is kept for clustering.

Activations differ by megabytes from step to step, in no order. --outputs keeps the words' scores
instead, which are as ragged as the texts.
"""

import random
import sys

import torch
from torch import nn

STEPS, WIDTH, BATCH = 26, 512, 8

random.seed(7)
outputs = "--outputs" in sys.argv
words, mix = nn.Embedding(2000, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(mix.parameters(), lr=0.1)
kept = []
for _ in range(STEPS):
    length = random.randint(16, 400)
    x = words(torch.randint(2000, (BATCH, length), device="cuda")).detach()
    y = torch.tanh(mix(x))
    loss = (y - x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(y.detach().mean(dim=2) if outputs else y.detach().mean(dim=(0, 1)))
