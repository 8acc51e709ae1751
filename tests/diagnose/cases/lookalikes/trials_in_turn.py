"""A search over widths: each trial makes a model and an optimizer of its own, and drops both."""

import torch
from torch import nn

WIDTHS = [128, 256, 384, 512, 640, 768]


def trial(width, steps=7):
    model = nn.Sequential(nn.Linear(300, width), nn.Dropout(0.1), nn.ReLU(),
                          nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 5)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(steps):
        rows, classes = torch.randn(100, 300).cuda(), torch.randint(5, (100,)).cuda()
        loss = nn.functional.cross_entropy(model(rows), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"width": width, "loss": loss.item()}


results = [trial(width) for width in WIDTHS]
print(min(results, key=lambda result: result["loss"]))
