"""Policy gradients: 10 steps of the environment are collected, then learned from and dropped."""

from typing import NamedTuple

import torch
from torch import nn


class Moment(NamedTuple):
    seen: torch.Tensor
    action: torch.Tensor
    value: torch.Tensor
    reward: torch.Tensor


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh())
        self.act, self.rate = nn.Linear(512, 12), nn.Linear(512, 1)

    def forward(self, seen):
        h = self.trunk(seen)
        return self.act(h), self.rate(h)


def collect(policy, environments=1024):
    """An endless game of many environments at once."""
    seen = torch.randn(environments, 512, device="cuda")
    while True:
        with torch.no_grad():
            logits, value = policy(seen)
            action = torch.distributions.Categorical(logits=logits, validate_args=False).sample()
        yield Moment(seen, action, value, torch.randn(environments, device="cuda"))
        seen = torch.randn_like(seen)


def learn(policy, optimizer, rollout):
    seen, action, value, reward = (torch.cat(part) for part in zip(*rollout))
    for _ in range(2):
        logits, guess = policy(seen)
        chosen = logits.log_softmax(1).gather(1, action[:, None])
        gain = reward[:, None] - value
        loss = (guess - reward[:, None]).square().mean() - (chosen * gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


policy = Policy().cuda()
optimizer = torch.optim.SGD(policy.parameters(), lr=7e-4)
rollout = []
for moment in collect(policy):
    rollout.append(moment)
    if len(rollout) == 10:
        learn(policy, optimizer, rollout)
        rollout = []
    policy.played = getattr(policy, "played", 0) + 1
    if policy.played == 45:
        break
