"""Forward and backward fit; the states that the optimizer makes in its first step do not.

The optimizer is Adam, one written by hand (lion), or two of them (pair).
"""

import sys

import torch
from torch import nn


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-4):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                state = self.state[weight]
                if not state:
                    state["slow"] = torch.zeros_like(weight)
                weight.add_(state["slow"].lerp(weight.grad, 0.1).sign_(), alpha=-group["lr"])
                state["slow"].lerp_(weight.grad, 0.01)


def tower(width, depth):
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))


def train(model, make, steps=3):
    optimizer = make(model.parameters())
    for _ in range(steps):
        loss = model(torch.randn(16, model[0].in_features).cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def pair():
    sender, receiver = tower(1024, 8).cuda(), tower(1024, 9).cuda()
    first = torch.optim.Adam(sender.parameters(), fused=True)
    second = torch.optim.AdamW(receiver.parameters(), fused=True)
    for _ in range(3):
        receiver(sender(torch.randn(8, 1024).cuda())).abs().mean().backward()
        first.step()
        second.step()
        first.zero_grad(), second.zero_grad()


if sys.argv[1] == "pair":
    pair()
else:
    make = {"adam": torch.optim.Adam, "lion": Lion}[sys.argv[1]]
    train(tower(1024, 18 if make is torch.optim.Adam else 26).cuda(), make)
