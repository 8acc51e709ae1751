"""A hook on a tensor refers to the tensor: a cycle through autograd that is never collected."""

import torch
from torch import nn

STEPS, BATCH, WIDTH = 15, 96, 320


def clip_by_value(activation, limit):
    """Scale a gradient by the size of the activation it belongs to."""
    activation.register_hook(lambda slope: slope.clamp(-limit, limit) * activation.abs().mean())
    return activation


encode, decode = nn.Linear(80, WIDTH).cuda(), nn.Linear(WIDTH, 80).cuda()
optimizer = torch.optim.SGD([*encode.parameters(), *decode.parameters()], lr=0.05)
for _ in range(STEPS):
    x = torch.randn(BATCH, 80).cuda()
    hidden = clip_by_value(encode(x).tanh(), 0.1)
    (decode(hidden) - x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
