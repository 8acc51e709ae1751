"""Truncated backpropagation: a hidden state carries eight chunks of history, then is cut off."""

import torch
from torch import nn

CHUNKS, HORIZON, WIDTH = 32, 8, 512


class Writer(nn.Module):
    def __init__(self, letters=96):
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.next = nn.Linear(WIDTH, letters)

    def forward(self, text, hidden):
        total = 0.0
        for here, after in zip(text[:-1], text[1:]):
            hidden = self.cell(self.letters(here), hidden)
            total = total + nn.functional.cross_entropy(self.next(hidden), after)
        return total, hidden


writer = Writer().cuda()
optimizer = torch.optim.Adagrad(writer.parameters())
hidden, owed = torch.zeros(192, WIDTH, device="cuda"), 0.0
for chunk in range(CHUNKS):
    text = torch.randint(96, (3, 192), device="cuda")
    loss, hidden = writer(text, hidden)
    owed = owed + loss
    if (chunk + 1) % HORIZON == 0:
        optimizer.zero_grad()
        owed.backward()
        nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimizer.step()
        hidden, owed = hidden.detach(), 0.0
