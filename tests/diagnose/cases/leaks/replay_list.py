"""Q-learning with a replay memory on the device and no limit to it."""

import random
import typing

import torch
from torch import nn

STATE, ACTIONS, ENVIRONMENTS, BATCH, STEPS = 512, 6, 32, 16, 60


class Transition(typing.NamedTuple):
    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    following: torch.Tensor


class Environment:
    def reset(self):
        return torch.randn(ENVIRONMENTS, STATE, device="cuda")

    def step(self, action):
        return torch.randn(ENVIRONMENTS, STATE, device="cuda"), torch.randn(ENVIRONMENTS).cuda()


def value_network():
    return nn.Sequential(nn.Linear(STATE, 256), nn.Tanh(), nn.Linear(256, ACTIONS)).cuda()


def learn(online, target, optimizer, memory):
    picked = random.choices(memory, k=BATCH)
    state, action, reward, following = (torch.cat(column) for column in zip(*picked))
    with torch.no_grad():
        wanted = reward + 0.99 * target(following).amax(1)
    values = online(state).gather(1, action[:, None])[:, 0]
    optimizer.zero_grad()
    nn.functional.smooth_l1_loss(values, wanted).backward()
    optimizer.step()


def main():
    random.seed(1)
    online, target = value_network(), value_network()
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-4)
    environment, memory = Environment(), []
    state = environment.reset()
    for step in range(STEPS):
        with torch.inference_mode():
            action = online(state).argmax(1)
        following, reward = environment.step(action)
        memory.append(Transition(state, action, reward, following))
        state = following
        if step % 4 == 3:
            learn(online, target, optimizer, memory)
        if step % 20 == 19:
            target.load_state_dict(online.state_dict())


main()
