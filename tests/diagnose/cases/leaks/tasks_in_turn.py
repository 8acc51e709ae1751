"""Continual learning: each task brings a new head, and the optimizer gets a group for it.

The old heads are gone from the model; their weights and states stay in the optimizer's groups.
--anew makes a whole new optimizer for each task, and a scheduler's list keeps the old ones.
"""

import sys

import torch
from torch import nn

TASKS, STEPS, BATCH, WIDTH = 6, 5, 32, 256


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(128, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, 400)

    def forward(self, x):
        return self.head(self.body(x).relu())


def train(model, optimizer):
    for _ in range(STEPS):
        x, y = torch.randn(BATCH, 128).cuda(), torch.randint(400, (BATCH,)).cuda()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def grow_group():
    model = Learner().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for task in range(TASKS):
        if task:
            model.head = nn.Linear(WIDTH, 400).cuda()
            optimizer.add_param_group({"params": model.head.parameters()})
        train(model, optimizer)


def make_anew():
    model, schedules = Learner().cuda(), []
    for _ in range(TASKS):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        schedules.append(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS))
        train(model, optimizer)
        schedules[-1].step()


make_anew() if "--anew" in sys.argv else grow_group()
