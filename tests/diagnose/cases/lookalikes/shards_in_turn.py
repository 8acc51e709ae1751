"""A corpus in 9 shards: two are on the device, a new one every 4 steps; each pass begins again."""

import itertools

import torch
from torch import nn


def shards(ahead=2):
    """Yield (shard, step within it); the next one is uploaded while this one is used."""
    held = []
    for number in itertools.cycle(range(9)):
        held.append(torch.zeros(40 * (8 + number), 2000).cuda())
        if len(held) == ahead:
            yield held.pop(0)


def batches():
    for shard in shards():
        yield from shard.chunk(4)


coder = nn.Linear(2000, 250).cuda()
optimizer = torch.optim.Adagrad(coder.parameters(), foreach=False)
for rows in itertools.islice(batches(), 50):
    nn.functional.huber_loss(coder(rows) @ coder.weight, rows).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
