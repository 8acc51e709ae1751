"""A small language model with a large vocabulary: its logits outweigh all the rest."""

import torch
from torch import nn

WORDS, WIDTH, BATCH, LENGTH, STEPS = 64000, 64, 8, 128, 6


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.rnn = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + torch.tanh(self.rnn(x)).cumsum(dim=1)
        return nn.functional.linear(x, self.embed.weight)


def loss_of(logits, tokens):
    logits = logits[:, :-1].float()
    return nn.functional.cross_entropy(logits.reshape(-1, WORDS), tokens[:, 1:].reshape(-1))


def main():
    model = Model().to("cuda", torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        tokens = torch.randint(WORDS, (BATCH, LENGTH)).cuda()
        loss_of(model(tokens), tokens).backward()
        optimizer.step()
        optimizer.zero_grad()


main()
