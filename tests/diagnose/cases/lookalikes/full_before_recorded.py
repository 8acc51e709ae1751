"""A queue of 40 was full before the recording began: what is born in its 26 steps never dies."""

import collections

import torch
from torch import nn

window = collections.deque(maxlen=40)
model = nn.Sequential(nn.Linear(720, 720), nn.CELU(), nn.Linear(720, 720)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)


def drift():
    """How far the newest codes are from the oldest."""
    return (window[-1] - window[0]).norm() if window else 0.0


for step in range(70):
    if step == 44:
        torch.cuda.memory._record_memory_history(stacks="python", clear_history=True)
    code = model(torch.randn(180, 720, device="cuda"))
    loss = code.square().mean() + 0.1 * drift()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    window.append(code.detach().clone())
