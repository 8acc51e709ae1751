"""A sequence-to-sequence model is evaluated every eight steps, in larger batches."""

import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, words=900, width=192):
        super().__init__()
        self.read, self.write = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, source, target):
        _, state = self.encoder(self.read(source))
        hidden, _ = self.decoder(self.write(target), state)
        return self.out(hidden)


def loss_of(model, size):
    source, target = torch.randint(900, (2, size, 30), device="cuda")
    return nn.functional.cross_entropy(model(source, target).flatten(0, 1), target.flatten())


@torch.no_grad()
def evaluate(model):
    model.eval()
    losses = [loss_of(model, 256) for _ in range(5)]
    model.train()
    return torch.stack(losses).mean().item()


model = Translator().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, fused=True)
best = []
for step in range(1, 27):
    optimizer.zero_grad()
    loss_of(model, 64).backward()
    optimizer.step()
    if step % 8 == 0:
        best.append(evaluate(model))
