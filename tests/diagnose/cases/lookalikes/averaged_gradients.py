"""Six small batches a step: gradients are made by the first, added to, and dropped by the last."""

import torch
from torch import nn


class Accumulate:
    """Run a closure for each small batch; the optimizer steps when all were seen."""

    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.seen = optimizer, every, 0

    def __call__(self, closure):
        loss = closure()
        (loss / self.every).backward()
        self.seen += 1
        if self.seen % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return float(self.seen)


class Towers(nn.Module):
    """Pictures and texts, drawn together."""

    def __init__(self):
        super().__init__()
        self.pictures = nn.Sequential(nn.Linear(1200, 900), nn.ReLU(), nn.Linear(900, 128))
        self.texts = nn.Sequential(nn.Linear(700, 900), nn.ReLU(), nn.Linear(900, 128))

    def forward(self, pictures, texts):
        alike = self.pictures(pictures) @ self.texts(texts).T
        return -(alike.log_softmax(0).diagonal() + alike.log_softmax(1).diagonal()).mean()


towers = Towers().cuda()
accumulate = Accumulate(torch.optim.NAdam(towers.parameters(), foreach=False), every=6)
for _ in range(44):
    accumulate(lambda: towers(torch.randn(64, 1200, device="cuda"),
                              torch.randn(64, 700, device="cuda")))
