"""A buffer of rows doubles when it is full, as lists do: in steps 2, 3, 5, 9 and 17 of 44."""

import torch
from torch import nn


class Rows:
    def __init__(self, limit=24):
        self.table, self.used, self.limit = None, 0, limit

    def add(self, rows):
        if self.table is None:
            self.table = rows.new_empty(1, *rows.shape)
        elif self.used >= len(self.table) and self.used < self.limit:
            self.table = torch.cat([self.table, torch.empty_like(self.table)])
        self.table[self.used % min(len(self.table), self.limit)] = rows
        self.used += 1

    def some(self):
        return self.table[:min(self.used, self.limit):3].flatten(0, 1)


policy = nn.Sequential(nn.Linear(400, 400), nn.Tanh(), nn.Linear(400, 400)).cuda()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01, momentum=0.5, fused=True)
rows = Rows()
for _ in range(44):
    with torch.no_grad():
        rows.add(policy(torch.randn(100, 400, device="cuda")))
    policy(rows.some()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
