"""A tiny training for `plimsoll fit`: on an RTX 4090, or else on the CPU, where it computes.

Autocast breaks it; gradients are freed already.
"""
import sys

import torch
from torch import nn

IS_LARGE = torch.cuda.is_available() and "4090" in torch.cuda.get_device_name(0)
DEVICE = "cuda" if IS_LARGE else "cpu"
BATCH = 65536 if IS_LARGE else 64


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Linear(512, 64)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        x = torch.randn(BATCH, 64, device=DEVICE)
        out = model(x)
        assert out.dtype == torch.float32, "this needs float32"
        loss = (out - x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", DEVICE, f"{loss.item():.5f}", flush=True)
    sys.exit(5)


main()
