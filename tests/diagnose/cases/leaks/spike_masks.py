"""Segmentation: for a metric the classes of every pixel of the enlarged picture become one-hot
numbers of 64 bits."""

import torch
from torch import nn
from torch.nn import functional

CLASSES, BATCH, SIDE, STEPS, EVERY = 80, 2, 96, 15, 5


def overlap(predicted, truth):
    predicted, truth = (functional.one_hot(classes.repeat_interleave(2, 1).repeat_interleave(2, 2),
                                           CLASSES) for classes in (predicted, truth))
    both = (predicted & truth).sum(dim=(0, 1, 2))
    return (both / (predicted | truth).sum(dim=(0, 1, 2)).clamp(min=1)).mean()


model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU6(), nn.Conv2d(16, CLASSES, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1, STEPS + 1):
    pictures = torch.rand(BATCH, 3, SIDE, SIDE).cuda()
    truth = torch.randint(CLASSES, (BATCH, SIDE, SIDE)).cuda()
    scores = model(pictures)
    functional.cross_entropy(scores, truth).backward()
    optimizer.step()
    optimizer.zero_grad()
    predicted = scores.detach().argmax(dim=1)
    del scores
    if step % EVERY == 0:
        print(f"step {step}: {overlap(predicted, truth).item():.3f}")
