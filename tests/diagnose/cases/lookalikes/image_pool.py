"""A CycleGAN's pool of 7 fakes: it fills, and then a random one is replaced, not the oldest."""

import random

import torch
from torch import nn


def translator():
    return nn.Sequential(nn.Conv2d(3, 48, 5, padding=2), nn.ReLU(True),
                         nn.Conv2d(48, 3, 5, padding=2), nn.Tanh())


def critic():
    return nn.Sequential(nn.Conv2d(3, 48, 4, 2, 1), nn.LeakyReLU(0.2, True),
                         nn.Conv2d(48, 1, 4, 2, 1))


class Pool:
    def __init__(self, limit=7):
        self.limit, self.fakes, self.draw = limit, [], random.Random(3)

    def swap(self, fake):
        """`fake` itself, or an older one in whose place it stays."""
        fake = fake.detach()
        if len(self.fakes) < self.limit:
            self.fakes.append(fake)
            return fake
        if self.draw.random() < 0.5:
            return fake
        place = self.draw.randrange(self.limit)
        old, self.fakes[place] = self.fakes[place], fake
        return old


there, back, judge = translator().cuda(), translator().cuda(), critic().cuda()
of_makers = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=2e-4, fused=True)
of_judge = torch.optim.Adam(judge.parameters(), lr=2e-4, fused=True)
pool = Pool()
for _ in range(22):
    summer, winter = torch.rand(2, 4, 3, 64, 64, device="cuda")
    of_makers.zero_grad()
    fake = there(summer)
    loss = (judge(fake) - 1).square().mean() + 10 * (back(fake) - summer).abs().mean()
    loss.backward()
    of_makers.step()
    of_judge.zero_grad()
    older = pool.swap(fake)
    (judge(older).square().mean() + (judge(winter) - 1).square().mean()).backward()
    of_judge.step()
