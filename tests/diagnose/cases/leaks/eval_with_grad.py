"""Validation losses are collected as tensors, and nothing switches recording off.

--inference evaluates under no_grad, but keeps the losses all the same: small, not a graph.
"""

import contextlib
import sys

import torch
from torch import nn

EPOCHS, STEPS, BATCH = 4, 4, 24


def network():
    channels = (1, 16, 32, 64)
    layers = []
    for before, after in zip(channels, channels[1:]):
        layers += [nn.Conv2d(before, after, 3, 2, 1), nn.BatchNorm2d(after), nn.SiLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 16, 100))


def batches(count):
    for _ in range(count):
        yield torch.randn(BATCH, 1, 32, 32).cuda(), torch.randint(100, (BATCH,)).cuda()


def train(model, optimizer, loss_of):
    model.train()
    for images, classes in batches(STEPS):
        loss = loss_of(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validate(model, loss_of):
    model.eval()
    return sum(loss_of(model(images), classes) for images, classes in batches(2))


def main():
    recording = torch.no_grad if "--inference" in sys.argv else contextlib.nullcontext
    model = network().cuda()
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    curve = []
    for _ in range(EPOCHS):
        train(model, optimizer, loss_of)
        with recording():
            curve.append(validate(model, loss_of))
    print(f"{len(curve)} epochs")


main()
