"""Evaluation records history for a backward pass that never comes.

Nothing grows, but the peak is that of training, and with a larger batch of evaluation above it.
"""

import contextlib

import torch
from torch.nn import functional

import small


def train(model, optimizer):
    features, classes = small.batch()
    functional.cross_entropy(model(features), classes).backward()
    optimizer.step()
    optimizer.zero_grad()


def evaluate(model, fixed):
    features, classes = small.batch(8 * small.BATCH)
    with torch.inference_mode() if fixed else contextlib.nullcontext():
        return functional.cross_entropy(model(features), classes)


def main():
    arguments = small.parse(__doc__, steps=6)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(arguments.steps):
            train(model, optimizer)
            loss = evaluate(model, arguments.fixed)
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
