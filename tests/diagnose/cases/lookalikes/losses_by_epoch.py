"""Losses are kept on the device, 512 bytes a step, and read and cleared every 15 steps."""

import torch
from torch import nn


class Epoch(list):
    def mean(self):
        value = torch.stack(self).mean().item()
        self.clear()
        return value


vectors = nn.EmbeddingBag(20000, 96, sparse=True).cuda()
topics = nn.Linear(96, 40).cuda()
sparse = torch.optim.SparseAdam(vectors.parameters())
dense = torch.optim.SGD(topics.parameters(), lr=0.1)
losses = Epoch()
for step in range(52):
    words = torch.randint(20000, (256, 12), device="cuda")
    target = torch.randint(40, (256,), device="cuda")
    loss = nn.functional.cross_entropy(topics(vectors(words)), target)
    loss.backward()
    for optimizer in (sparse, dense):
        optimizer.step()
        optimizer.zero_grad()
    losses.append(loss.detach())
    if len(losses) == 15:
        print(losses.mean())
