"""An autoencoder is trained and dropped but for its encoder; a larger model goes on with that."""

import torch
from torch import nn


def first_stage(encoder, steps=14):
    decoder = nn.Sequential(nn.Linear(128, 800), nn.ReLU(), nn.Linear(800, 1000)).cuda()
    optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], foreach=False)
    for _ in range(steps):
        rows = torch.randn(64, 1000, device="cuda")
        (decoder(encoder(rows)) - rows).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return encoder.requires_grad_(False)


def second_stage(encoder, steps=26):
    recurrent = nn.GRU(128, 640, num_layers=2, batch_first=True).cuda()
    optimizer = torch.optim.SGD(recurrent.parameters(), lr=0.1, momentum=0.9, foreach=False)
    for _ in range(steps):
        films = torch.randn(16, 20, 1000, device="cuda")
        hidden, _ = recurrent(encoder(films))
        hidden.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


encoder = nn.Sequential(nn.Linear(1000, 800), nn.ReLU(), nn.Linear(800, 128)).cuda()
second_stage(first_stage(encoder))
