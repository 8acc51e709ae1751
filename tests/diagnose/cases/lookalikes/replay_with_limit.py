"""Q-learning: each step of the game adds a transition to a memory of 20; it learns every third."""

import collections
import copy
import random

import torch
from torch import nn

Transition = collections.namedtuple("Transition", "state action reward after")
MEMORY = collections.deque(maxlen=20)


def value_net():
    return nn.Sequential(nn.Linear(1000, 700), nn.ReLU(), nn.Linear(700, 6)).cuda()


online = value_net()
steady = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), fused=True)
draw = random.Random(0)


def play(state):
    with torch.no_grad():
        action = online(state).argmax(1, keepdim=True)
    after = torch.randn_like(state)
    MEMORY.append(Transition(state, action, torch.zeros(64, 1, device="cuda"), after))
    return after


def learn():
    batch = draw.sample(MEMORY, min(4, len(MEMORY)))
    state, action, reward, after = (torch.cat(part) for part in zip(*batch))
    target = reward + 0.99 * steady(after).amax(1, keepdim=True)
    nn.functional.smooth_l1_loss(online(state).gather(1, action), target).backward()
    optimizer.step()
    optimizer.zero_grad()


state = torch.randn(64, 1000, device="cuda")
for turn in range(60):
    state = play(state)
    if turn % 3 == 2:
        learn()
    if turn % 15 == 14:
        steady.load_state_dict(online.state_dict())
