"""Hooks keep each layer's last activation for a picture of it; the next step replaces it."""

import contextlib

import torch
from torch import nn

SHOWN = {}


@contextlib.contextmanager
def watching(model):
    """Keep what every convolution gave last."""
    def keep(name):
        return lambda layer, given, got: SHOWN.__setitem__(name, got.detach().abs())

    handles = [layer.register_forward_hook(keep(name)) for name, layer in model.named_modules()
               if isinstance(layer, nn.Conv2d)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def loss_of(model, size):
    picture = torch.rand(size, 4, 80, 80, device="cuda")
    return (model(picture) - picture[:, :1]).square().mean()


model = nn.Sequential(nn.Conv2d(4, 24, 3, padding=1), nn.Mish(), nn.Conv2d(24, 48, 3, padding=1),
                      nn.Mish(), nn.Conv2d(48, 1, 1)).cuda()
optimizer = torch.optim.Adamax(model.parameters(), foreach=False)
with watching(model):
    for step in range(24):
        loss = loss_of(model, 8 + step // 4)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
