"""Objects that refer to themselves keep their tensors until Python's collector comes by.

A callback stored on the object it belongs to is the usual case. The collector counts objects,
not bytes of a device, so it comes late.
"""

import torch
from torch.nn import functional

import small


class Step:
    """One step's tensors, and who is told of its end."""

    def __init__(self, logits, fixed):
        self.logits = logits
        self.done = None if fixed else self.finish

    def finish(self):
        self.done = None


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(arguments.steps):
            features, classes = small.batch()
            now = Step(model(features), arguments.fixed)
            loss = functional.cross_entropy(now.logits, classes)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            del now
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
