"""A language model whose recording begins in step 20, long after weights and states were made."""

import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, words=3000, width=256):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, text):
        hidden, _ = self.layers(self.words(text))
        return self.out(hidden)


def steps(model, optimizer, count):
    for _ in range(count):
        text = torch.randint(3000, (8, 33), device="cuda")
        logits = model(text[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        yield loss


model = Language().cuda()
optimizer = torch.optim.NAdam(model.parameters())
for _ in steps(model, optimizer, 20):
    pass
torch.cuda.memory._record_memory_history(stacks="python", clear_history=True)
for _ in steps(model, optimizer, 12):
    pass
