"""A forward hook stores every activation it sees, and nobody takes them away."""

import torch
from torch.nn import functional

import small


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        seen = []

        def watch(module, inputs, output):
            if arguments.fixed:
                seen.append(float(output.detach().std()))
            else:
                seen.append(output)

        for layer in model.layers:
            layer.register_forward_hook(watch)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(arguments.steps):
            features, classes = small.batch()
            loss = functional.cross_entropy(model(features), classes)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            run.moment(step, "end")
            run.step(step, loss)


if __name__ == "__main__":
    main()
