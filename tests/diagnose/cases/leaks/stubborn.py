"""Scores are kept until memory runs out; the failure is caught, the cache emptied, and on it goes.

--capped limits the process to a fraction of the device, and meets that limit by the same leak.
"""

import sys

import torch
from torch import nn

STEPS, BATCH, CLASSES = 18, 2000, 2048

if "--capped" in sys.argv:
    torch.cuda.set_per_process_memory_fraction(0.003)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, CLASSES)).cuda()
kept, failed = [], 0
for _ in range(STEPS):
    try:
        with torch.inference_mode():
            scores = model(torch.randn(BATCH, 64).cuda())
            kept.append(scores)
    except torch.OutOfMemoryError:
        failed += 1
        torch.cuda.empty_cache()
        if "--capped" in sys.argv:
            raise
print(f"{failed} batches failed")
