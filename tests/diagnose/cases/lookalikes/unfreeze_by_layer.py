"""Gradual unfreezing: every 4 steps one more layer gets gradients and states, to the last step."""

import torch
from torch import nn

LAYERS, EVERY = 6, 4


class Mixer(nn.Module):
    """One layer over tokens, one over channels."""

    def __init__(self, tokens=32, width=448):
        super().__init__()
        self.over_tokens = nn.Linear(tokens, tokens, bias=False)
        self.over_channels = nn.Linear(width, width, bias=False)

    def forward(self, x):
        x = x + self.over_tokens(x.mT).mT
        return x + nn.functional.gelu(self.over_channels(x))


def train(stack, head):
    waiting = list(stack)
    optimizer = torch.optim.AdamW(head.parameters(), lr=5e-5, fused=True)
    for step in range((LAYERS + 1) * EVERY):
        if step and step % EVERY == 0:
            thawed = waiting.pop().requires_grad_(True)
            optimizer.add_param_group({"params": list(thawed.parameters()), "lr": 2e-5})
        patches = torch.randn(16, 32, 448).cuda()
        labels = torch.randint(20, (16,)).cuda()
        nn.functional.cross_entropy(head(stack(patches).mean(1)), labels).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    train(nn.Sequential(*(Mixer() for _ in range(LAYERS))).cuda().requires_grad_(False),
          nn.Linear(448, 20).cuda())
