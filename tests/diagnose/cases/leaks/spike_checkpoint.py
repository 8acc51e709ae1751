"""Saving copies all weights and states on the device, before they go to the host, at step 12."""

import copy
import io

import torch
from torch import nn

STEPS, SAVE = 18, 12


class Saver:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def save(self):
        state = copy.deepcopy({"model": self.model.state_dict(),
                               "optimizer": self.optimizer.state_dict()})
        torch.save(state, io.BytesIO())


model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
saver = Saver(model, optimizer)
for step in range(STEPS):
    model(torch.randn(4, 1024).cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == SAVE:
        saver.save()
