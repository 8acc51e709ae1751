"""Gradients are never cleared. They add up, which is wrong, and they never leave memory.

Nothing grows after the first step: gradients have the size of the weights, once. But they lie
there during every forward pass, where a program that clears them has the room free.
"""

import torch
from torch.nn import functional

import small


def main():
    arguments = small.parse(__doc__, steps=6)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(arguments.steps):
            features, classes = small.batch()
            loss = functional.cross_entropy(model(features), classes)
            run.moment(step, "forward")
            loss.backward()
            optimizer.step()
            if arguments.fixed:
                optimizer.zero_grad()
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
