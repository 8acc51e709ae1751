"""The last step's loss is compared with this one's, so each step's graph lives for two steps."""

import torch
from torch import nn


class Plateau:
    """Halve the rate when the loss has not fallen; the program never reads what it compares."""

    def __init__(self, optimizer):
        self.optimizer, self.last = optimizer, None

    def watch(self, loss):
        fallen = None if self.last is None else self.last - loss
        self.last = loss
        return fallen


class Unrolled(nn.Module):
    def __init__(self, width=600):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        for _ in range(4):
            x = torch.sin(self.inner(x)) + x
        return x.abs().mean()


model = Unrolled().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
plateau = Plateau(optimizer)
for step in range(40):
    loss = model(torch.randn(400 + 8 * min(step, 12), 600, device="cuda"))
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    plateau.watch(loss)
