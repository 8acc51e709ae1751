"""Tensors saved for backward go through a store by number, which nothing is ever taken from."""

import itertools

import torch
from torch import nn

STEPS, BATCH = 9, 48


class Store:
    """Counts what autograd saves; entries stay, because unpacking may happen twice."""

    def __init__(self):
        self.numbers, self.saved = itertools.count(), {}

    def pack(self, tensor):
        number = next(self.numbers)
        self.saved[number] = tensor
        return number

    def unpack(self, number):
        return self.saved[number]


def main():
    store = Store()
    model = nn.Sequential(nn.Linear(96, 200), nn.GELU(), nn.LayerNorm(200), nn.Linear(200, 200),
                          nn.GELU(), nn.Linear(200, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        with torch.autograd.graph.saved_tensors_hooks(store.pack, store.unpack):
            loss = model(torch.randn(BATCH, 96).cuda()).exp().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
