"""A checkpoint is read onto the device: weights and states lie there twice until it is dropped."""

import io

import torch
from torch import nn


def made():
    model = nn.Sequential(nn.Linear(800, 1600), nn.ReLU(), nn.Linear(1600, 800)).cuda()
    return model, torch.optim.Adam(model.parameters(), fused=True)


def step(model, optimizer):
    rows = torch.randn(64, 800, device="cuda")
    (model(rows) - rows).abs().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def saved():
    model, optimizer = made()
    for _ in range(3):
        step(model, optimizer)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    return file


def resumed(file):
    held = torch.load(file, map_location="cuda")
    model, optimizer = made()
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
    return model, optimizer


model, optimizer = resumed(saved())
for _ in range(30):
    step(model, optimizer)
