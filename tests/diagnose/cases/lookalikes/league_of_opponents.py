"""Self-play: every third step the player joins a league of five; from then on a random one goes."""

import copy
import random

import torch
from torch import nn


class League:
    def __init__(self, seats=5, seed=6):
        self.seats, self.players, self.draw = seats, [], random.Random(seed)

    def join(self, player):
        if len(self.players) == self.seats:
            self.players.pop(self.draw.randrange(self.seats))
        self.players.append(copy.deepcopy(player).eval().requires_grad_(False))

    def opponent(self):
        return self.draw.choice(self.players)


def play(player, opponent):
    boards = torch.zeros(256, 361, device="cuda")
    mine = player(boards)
    with torch.no_grad():
        theirs = opponent(boards + mine)
    return (mine - theirs).square().mean()


player = nn.Sequential(nn.Linear(361, 600), nn.ReLU(), nn.Linear(600, 361)).cuda()
optimizer = torch.optim.RMSprop(player.parameters(), momentum=0.9, foreach=False)
league = League()
for step in range(42):
    if step % 3 == 0:
        league.join(player)
    play(player, league.opponent()).backward()
    optimizer.step()
    optimizer.zero_grad()
