"""Hooks collect what layers compute, for an analysis that never comes.

--backward collects the gradients of activations instead.
"""

import collections
import functools
import sys

import torch
from torch import nn

BATCH, STEPS = 16, 15


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(8, channels)

    def forward(self, x):
        return x + torch.relu(self.norm(self.convolution(x)))


def store(book, name, module, inputs, output):
    book[name].append(output if torch.is_tensor(output) else output[0])


def attach(model, book, backward):
    for name, module in model.named_modules():
        if isinstance(module, nn.GroupNorm):
            if backward:
                module.register_full_backward_hook(functools.partial(store, book, name))
            else:
                module.register_forward_hook(functools.partial(store, book, name))


def main(backward):
    model = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), *(Block(32) for _ in range(3)),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).cuda()
    book = collections.defaultdict(list)
    attach(model, book, backward)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for _ in range(STEPS):
        images = torch.randn(BATCH, 3, 32, 32).cuda()
        loss = model(images).logsumexp(1).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


main("--backward" in sys.argv)
