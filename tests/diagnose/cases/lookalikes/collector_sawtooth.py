"""A trainer and each of its steps hold each other: the collector frees many steps at once."""

import gc

import torch
from torch import nn


class Scratch:
    """Everything of one step, with a way back to the trainer's view of it."""

    def __init__(self, trainer, batch):
        self.trainer, self.batch = trainer, batch
        self.undo = lambda: self.release()

    def release(self):
        self.batch = None

    def forward(self):
        self.hidden = self.trainer.encoder(self.batch)
        return self.trainer.decoder(self.hidden)


class Trainer:
    def __init__(self):
        self.encoder = nn.Linear(900, 1200).cuda()
        self.decoder = nn.Linear(1200, 900).cuda()
        weights = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.optimizer = torch.optim.SGD(weights, lr=0.1)

    def step(self):
        scratch = Scratch(self, torch.rand(512, 900, device="cuda"))
        loss = (scratch.forward() - scratch.batch).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    trainer = Trainer()
    gc.collect()
    gc.freeze()
    gc.set_threshold(220, 2, 2)
    for _ in range(60):
        trainer.step()


if __name__ == "__main__":
    main()
