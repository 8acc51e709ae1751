"""Weights in shards, made whole for each use: the embedding's table is far larger than the rest."""

import torch
from torch import nn

RANKS, WORDS, WIDTH, LAYERS, BATCH, LENGTH, STEPS = 8, 60000, 512, 3, 4, 16, 8


class Sharded:
    """A tensor of which this rank holds one part; gathering is played by repetition."""

    def __init__(self, rows, columns):
        self.part = torch.randn(rows // RANKS, columns, device="cuda", requires_grad=True)

    def gather(self):
        return torch.cat([self.part] * RANKS)


class Gathered(torch.autograd.Function):
    """A product with a gathered weight, which is gathered once more for the backward pass."""

    @staticmethod
    def forward(context, x, part, weight):
        context.save_for_backward(x)
        context.weight = weight
        return x @ weight.gather().T

    @staticmethod
    def backward(context, slope):
        x, = context.saved_tensors
        whole = slope.flatten(0, 1).T @ x.flatten(0, 1)
        return slope @ context.weight.gather(), whole.chunk(RANKS)[0].clone(), None


table = Sharded(WORDS, WIDTH)
layers = [Sharded(WIDTH, WIDTH) for _ in range(LAYERS)]
optimizer = torch.optim.SGD([weight.part for weight in layers], lr=0.1)
for _ in range(STEPS):
    tokens = torch.randint(WORDS, (BATCH, LENGTH)).cuda()
    with torch.no_grad():
        x = table.gather()[tokens]
    for weight in layers:
        x = Gathered.apply(x, weight.part, weight).relu()
    x.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
