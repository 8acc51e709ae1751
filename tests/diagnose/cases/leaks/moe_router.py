"""A mixture of experts whose router keeps its scores for a balancing loss, and never forgets."""

import torch
from torch import nn

WIDTH, EXPERTS, BATCH, TOKENS, STEPS = 96, 8, 16, 64, 14


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, 2 * WIDTH) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, 2 * WIDTH, WIDTH) * 0.02)
        self.scores = []

    def forward(self, x):
        chances = self.router(x).softmax(dim=-1)
        self.scores.append(chances)
        hidden = torch.einsum("btw,ewh->bteh", x, self.up).relu()
        mixed = torch.einsum("bteh,ehw,bte->btw", hidden, self.down, chances)
        return x + mixed

    def balance(self):
        return EXPERTS * self.scores[-1].mean(dim=(0, 1)).square().sum()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Experts() for _ in range(2))
        self.out = nn.Linear(WIDTH, 32)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def main():
    with torch.device("cuda"):
        model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for _ in range(STEPS):
        answers = model(torch.randn(BATCH, TOKENS, WIDTH, device="cuda"))
        loss = answers.square().mean() + sum(block.balance() for block in model.blocks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
