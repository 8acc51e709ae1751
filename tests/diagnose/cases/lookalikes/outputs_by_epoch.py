"""Outputs of an epoch of 16 batches are kept and cleared; the recording ends in the third."""

import torch
from torch import nn


class Scores:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.outputs, self.wanted = [], []

    def update(self, output, wanted):
        self.outputs.append(output)
        self.wanted.append(wanted)

    def compute(self):
        return (torch.cat(self.outputs) - torch.cat(self.wanted)).abs().mean().item()


def batches(count):
    for _ in range(count):
        yield torch.randn(8, 2, 10000, device="cuda"), torch.randn(8, 1, 10000, device="cuda")


net = nn.Sequential(nn.Conv1d(2, 16, 25, padding=12), nn.GELU(), nn.Conv1d(16, 1, 25, padding=12))
net.cuda()
scores = Scores("error")
with torch.no_grad():
    for number, (heard, spoken) in enumerate(batches(46), 1):
        scores.update(net(heard), spoken)
        if number % 16 == 0:
            print(scores.name, scores.compute())
            scores.reset()
