"""A new optimizer in each epoch, while a list of schedulers keeps the old ones and their states.
"""

import torch
from torch.nn import functional

import small

EPOCH = 3


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        optimizer = torch.optim.AdamW(model.parameters())
        schedulers = [torch.optim.lr_scheduler.StepLR(optimizer, EPOCH)]
        for step in range(arguments.steps):
            if step and step % EPOCH == 0 and not arguments.fixed:
                optimizer = torch.optim.AdamW(model.parameters())
                schedulers.append(torch.optim.lr_scheduler.StepLR(optimizer, EPOCH))
            features, classes = small.batch()
            loss = functional.cross_entropy(model(features), classes)
            loss.backward()
            optimizer.step()
            schedulers[-1].step()
            optimizer.zero_grad()
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
