"""A side loss is watched, not trained on; a list keeps each of them with the graph of six layers."""

import statistics

import torch
from torch import nn

STEPS, LAYERS, WIDTH, TOKENS, BATCH = 8, 6, 64, 32, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.first, self.second = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)

    def forward(self, x):
        q, k, v = self.mix(self.first(x)).chunk(3, dim=-1)
        x = x + self.out((q @ k.mT).div(8).softmax(-1) @ v)
        return x + self.narrow(nn.functional.gelu(self.wide(self.second(x))))


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.main, self.side = nn.Linear(WIDTH, 50), nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.main(self.blocks(x))

    def side_loss(self, x):
        return self.side(self.blocks(x)).square().mean()


model, watched = TwoHeads().cuda(), []
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(STEPS):
    x = torch.randn(BATCH, TOKENS, WIDTH).cuda()
    model(x).logsumexp(-1).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    watched.append(model.side_loss(x))
    if step % 4 == 3:
        print(f"{statistics.mean(float(loss) for loss in watched[-4:]):.3f}")
