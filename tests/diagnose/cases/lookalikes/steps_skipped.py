"""The first nine steps are skipped, as with a loss scale too high: states arrive in the tenth."""

import torch
from torch import nn

SKIPPED = {*range(9), 17, 26}


def net(width=768):
    layers = []
    for _ in range(3):
        layers += [nn.Linear(width, width), nn.SiLU()]
    return nn.Sequential(*layers).cuda()


model = net()
optimizer = torch.optim.RAdam(model.parameters(), foreach=False)
for step in range(36):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(torch.randn(64, 768, device="cuda")).float().square().mean()
    (loss * 2.0**16).backward()
    if step not in SKIPPED:
        optimizer.step()
    optimizer.zero_grad()
