"""Log records keep their arguments: a handler that buffers records buffers tensors.

Gradients are accumulated over three batches; every batch logs.
"""

import logging
import logging.handlers

import torch
from torch import nn

STEPS, PARTS, BATCH = 8, 3, 64

log = logging.getLogger("train")
log.setLevel(logging.DEBUG)
log.propagate = False
log.addHandler(logging.handlers.MemoryHandler(100_000, flushLevel=logging.CRITICAL + 1))


def batches():
    for _ in range(STEPS * PARTS):
        yield torch.randn(BATCH, 200).cuda()


model = nn.Sequential(nn.Linear(200, 300), nn.Sigmoid(), nn.Linear(300, 48)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for number, x in enumerate(batches(), 1):
    with torch.profiler.record_function(f"batch {number}"):
        scores = model(x)
        (scores.logsumexp(dim=1).mean() / PARTS).backward()
        log.debug("scores of batch %d: %s", number, scores.detach())
        if number % PARTS == 0:
            optimizer.step()
            optimizer.zero_grad()
