"""Losses of single samples are kept by step, 512 bytes each time, beside megabytes of activations.

--late starts with the second half, --scalar keeps the mean loss alone: one number, one block.
"""

import sys

import torch
from torch import nn

BATCH, STEPS, WIDTH = 128, 30, 512


class Mixer(nn.Module):
    """Tokens are mixed, then channels."""

    def __init__(self, tokens=16, width=64):
        super().__init__()
        self.tokens = nn.Linear(tokens, tokens)
        self.channels = nn.Linear(width, width)

    def forward(self, x):
        x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
        return x + self.channels(x).relu()


def main(late, scalar):
    model = nn.Sequential(nn.Linear(WIDTH, 1024), nn.Unflatten(1, (16, 64)), Mixer(),
                          nn.Flatten(), nn.Linear(1024, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    record = {}
    for step in range(STEPS):
        logits = model(torch.randn(BATCH, WIDTH).cuda())
        each = nn.functional.cross_entropy(logits, torch.randint(10, (BATCH,)).cuda(),
                                           reduction="none")
        loss = each.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if not late or step >= STEPS // 2:
            record[step] = (loss if scalar else each).detach()


main("--late" in sys.argv, "--scalar" in sys.argv)
