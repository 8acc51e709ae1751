"""Scores are copied aside on a second stream, for a consumer that was removed long ago."""

import torch
from torch import nn

STEPS, BATCH = 18, 40


class Pipeline:
    def __init__(self, model):
        self.model, self.side, self.outbox = model, torch.cuda.Stream(), []

    def __call__(self, x):
        scores = self.model(x)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.outbox.append(scores.detach().to(torch.float64))
        torch.cuda.current_stream().wait_stream(self.side)
        return scores


model = nn.Sequential(nn.Linear(256, 512), nn.Softsign(), nn.Linear(512, 700)).cuda()
pipeline, optimizer = Pipeline(model), torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    pipeline(torch.randn(BATCH, 256).cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
