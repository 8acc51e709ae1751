"""A sample of 12 batches of all that came: it fills, then replaces ever more rarely."""

import random

import torch
from torch import nn

draw = random.Random(12)
kept, seen = [], 0


def sample(batch):
    """Algorithm R: each batch is kept with the same chance."""
    global seen
    seen += 1
    if len(kept) < 12:
        kept.append(batch)
    elif (place := draw.randrange(seen)) < 12:
        kept[place] = batch


flow = nn.Sequential(nn.Linear(64, 512), nn.ELU(), nn.Linear(512, 512), nn.ELU(),
                     nn.Linear(512, 64)).cuda()
optimizer = torch.optim.SGD(flow.parameters(), lr=0.01, fused=True)
for step in range(40):
    batch = torch.randn(draw.randrange(400, 1200, 100), 64, device="cuda")
    sample(batch)
    again = draw.choice(kept)
    (flow(batch).square().mean() + (flow(again) - again).square().mean()).backward()
    optimizer.step()
    optimizer.zero_grad()
