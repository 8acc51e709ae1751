"""Every fifth batch fails, and each failure is raised from the last one: a chain of tracebacks."""

import torch
from torch import nn

STEPS, BATCH = 30, 40


class BadBatch(RuntimeError):
    pass


def forward(model, number, x):
    hidden = model[0](x)
    if number % 5 == 4:
        raise BadBatch(number)
    return model[1](hidden.relu())


def guarded(model, number, x, last):
    try:
        return forward(model, number, x), last
    except BadBatch as error:
        error.__context__ = last
        return None, error


model = nn.Sequential(nn.Linear(128, 500), nn.Linear(500, 6)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
last = None
for number in range(STEPS):
    scores, last = guarded(model, number, torch.randn(BATCH, 128).cuda(), last)
    if scores is not None:
        scores.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    del scores
