"""Every sixth step a penalty of gradients is added: the peak of those steps is higher."""

import torch
from torch import nn


def judge_net():
    return nn.Sequential(nn.Conv2d(3, 64, 4, 4), nn.Softplus(), nn.Conv2d(64, 128, 4, 4),
                         nn.Softplus(), nn.Flatten(), nn.Linear(2048, 1))


def penalty(judge, real):
    real = real.requires_grad_(True)
    slope, = torch.autograd.grad(judge(real).sum(), real, create_graph=True)
    return slope.square().sum((1, 2, 3)).mean()


maker = nn.Sequential(nn.Linear(100, 3 * 64 * 64), nn.Sigmoid(), nn.Unflatten(1, (3, 64, 64)))
judge = judge_net().cuda()
maker.cuda()
optimizers = {"maker": torch.optim.Adam(maker.parameters(), fused=True),
              "judge": torch.optim.Adam(judge.parameters(), fused=True)}


def update(name, loss):
    optimizers[name].zero_grad()
    loss.backward()
    optimizers[name].step()


for step in range(19):
    real = torch.rand(48, 3, 64, 64, device="cuda")
    fake = maker(torch.randn(48, 100, device="cuda"))
    loss = nn.functional.softplus(judge(fake.detach()) - judge(real)).mean()
    if step % 6 == 5:
        loss = loss + 60 * penalty(judge, real)
    update("judge", loss)
    update("maker", nn.functional.softplus(-judge(fake)).mean())
