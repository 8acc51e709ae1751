#!/usr/bin/env python3
"""A plain loop over accelerate: eight layers, AdamW."""

import torch
from accelerate import Accelerator
from torch import nn

WIDTH, LAYERS = 1024, 8


def main():
    accelerator = Accelerator()
    net = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)])
    optimizer = torch.optim.AdamW(net.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(32, WIDTH), batch_size=8)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for x in loader:
        loss = net(x).float().square().mean()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.print("loss", accelerator.gather(loss.detach()).mean().item())
    accelerator.end_training()


main()
