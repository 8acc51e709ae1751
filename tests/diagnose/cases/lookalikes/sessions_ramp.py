"""A chat server: sessions open until there are 12; then one opens for each that ends."""

import random

import torch
from torch import nn

WIDTH = 384


class Session:
    """What was said, as keys and values; longer by one turn each time."""

    def __init__(self, turns):
        self.turns, self.past = turns, None

    def turn(self, attention):
        said = torch.zeros(1, 12, WIDTH, device="cuda")
        self.past = said if self.past is None else torch.cat([self.past, said], 1)
        answer, _ = attention(said, self.past, self.past, need_weights=False)
        self.turns -= 1
        return answer.mean().item()


class Server:
    def __init__(self):
        self.attention = nn.MultiheadAttention(WIDTH, 6, batch_first=True).cuda().eval()
        self.sessions, self.draw = [], random.Random(9)

    def tick(self, limit):
        if len(self.sessions) < limit:
            self.sessions.append(Session(self.draw.randint(4, 14)))
        for session in self.draw.sample(self.sessions, min(3, len(self.sessions))):
            session.turn(self.attention)
        self.sessions = [session for session in self.sessions if session.turns > 0]


server = Server()
with torch.inference_mode():
    for _ in range(80):
        server.tick(limit=12)
