"""A search for hyperparameters: each trial's best model is kept with its result, on the device."""

import dataclasses

import torch
from torch import nn

TRIALS, STEPS, BATCH = 5, 5, 32


@dataclasses.dataclass
class Result:
    rate: float
    loss: float
    model: nn.Module


def trial(rate):
    model = nn.Sequential(nn.Linear(128, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(),
                          nn.Linear(384, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, 128).cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    optimizer.zero_grad()
    return Result(rate, loss.item(), model)


results = [trial(10.0**-number) for number in range(TRIALS)]
print(min(results, key=lambda result: result.loss).rate)
