"""A monitored loss is summed up as a tensor, and with it the history it came from.

`total += entropy` makes the sum depend on every step so far. Entropy is never the start of a
backward pass, so what its history saved, the logits' log-probabilities, is never released.
"""

import torch
from torch.nn import functional

import small


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        total = 0.0
        for step in range(arguments.steps):
            features, classes = small.batch()
            logits = model(features)
            loss = functional.cross_entropy(logits, classes)
            entropy = logits.log_softmax(1).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if arguments.fixed:
                total += entropy.detach()
            else:
                total += entropy
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
