"""Truncated backpropagation that forgets to truncate: the state is carried on with its history.

Weights are updated functionally, so that PyTorch does not notice an old weight changed in place.
--stream only measures perplexity over a long text, window after window, and records history.
"""

import sys

import torch
from torch import nn
from torch.func import functional_call

VOCABULARY, WIDTH, BATCH, WINDOW, STEPS = 96, 256, 32, 4, 14


class Characters(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.cell = nn.LSTMCell(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, state):
        loss = 0
        for now, following in zip(tokens[:-1], tokens[1:]):
            state = self.cell(self.embed(now), state)
            loss = loss + nn.functional.cross_entropy(self.head(state[0]), following)
        return loss / WINDOW, state


def windows():
    for window in torch.randint(VOCABULARY, (STEPS, WINDOW + 1, BATCH)).unbind():
        yield window.cuda()


def train(model, state):
    weights = dict(model.named_parameters())
    for window in windows():
        loss, state = functional_call(model, weights, (window, state))
        slopes = torch.autograd.grad(loss, list(weights.values()), retain_graph=True)
        weights = {name: (weight - 0.1 * slope).detach().requires_grad_()
                   for (name, weight), slope in zip(weights.items(), slopes)}


def stream(model, state):
    surprise = 0.0
    for window in windows():
        loss, state = model(window, state)
        surprise += loss.item()
    print(f"{surprise / STEPS:.3f} nats")


model = Characters().to("cuda")
state = tuple(torch.zeros(BATCH, WIDTH, device="cuda") for _ in range(2))
(stream if "--stream" in sys.argv else train)(model, state)
