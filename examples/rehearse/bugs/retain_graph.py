"""A recurrent state carries its history from step to step, and retain_graph hides the error.

Without `detach` the backward pass of each step runs through all steps before it. PyTorch would
refuse, as their saved tensors are gone; retain_graph=True keeps them, all of them, for good.
"""

import torch
from torch import nn
from torch.nn import functional

import small


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        with torch.device("cuda"):
            cell = nn.Linear(2 * small.FEATURES, small.FEATURES)
            head = nn.Linear(small.FEATURES, small.CLASSES)
            state = torch.zeros(small.BATCH, small.FEATURES)
        model = nn.ModuleList((cell, head))
        run.model(model)
        for step in range(arguments.steps):
            features, classes = small.batch()
            state = torch.tanh(cell(torch.cat((features, state), dim=1)))
            loss = functional.cross_entropy(head(state), classes)
            loss.backward(retain_graph=not arguments.fixed)
            model.zero_grad()
            if arguments.fixed:
                state = state.detach()
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
