"""Policy optimisation: rollouts are freed after each iteration, the values for the plot are not."""

import torch
from torch import nn

ITERATIONS, HORIZON, WORLDS, SEEN, PASSES = 8, 12, 128, 48, 2


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SEEN, 128), nn.Tanh())
        self.act, self.value = nn.Linear(128, 4), nn.Linear(128, 1)

    def forward(self, x):
        x = self.body(x)
        return self.act(x).log_softmax(-1), self.value(x)


def rollout(agent):
    """Steps of all worlds; each entry lives until the iteration's end."""
    seen, chances, values, rewards = [], [], [], []
    now = torch.randn(WORLDS, SEEN).cuda()
    for _ in range(HORIZON):
        with torch.no_grad():
            chance, value = agent(now)
        seen.append(now), chances.append(chance), values.append(value)
        rewards.append(torch.randn(WORLDS).cuda())
        now = torch.randn(WORLDS, SEEN).cuda()
    return torch.stack(seen), torch.stack(chances), torch.stack(values), torch.stack(rewards)


def improve(agent, optimizer, seen, old, values, rewards):
    for _ in range(PASSES):
        chances, now = agent(seen)
        ratio = (chances - old).exp().amax(-1)
        loss = (now[..., 0] - rewards).square().mean() - ratio.clamp(0.8, 1.2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


agent, plot = Agent().cuda(), {}
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, fused=True)
for iteration in range(ITERATIONS):
    seen, chances, values, rewards = rollout(agent)
    improve(agent, optimizer, seen, chances, values, rewards)
    plot[iteration] = values, rewards
