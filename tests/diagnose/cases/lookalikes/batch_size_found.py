"""The batch size is doubled until it fails; the program survives that and trains with half."""

import gc

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                         nn.Linear(1024, 100)).cuda()


def train(model, optimizer, batch):
    pictures = torch.randn(batch, 1, 32, 32, device="cuda")
    loss = nn.functional.cross_entropy(model(pictures),
                                       torch.zeros(batch, dtype=torch.long, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def largest(model, optimizer):
    """The last power of two that one step survives."""
    batch = 32
    while True:
        try:
            train(model, optimizer, 2 * batch)
        except torch.OutOfMemoryError:
            break
        batch *= 2
    optimizer.zero_grad()
    gc.collect()
    torch.cuda.empty_cache()
    return batch


model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
batch = largest(model, optimizer) // 2
for _ in range(25):
    train(model, optimizer, batch)
print("trained with", batch)
