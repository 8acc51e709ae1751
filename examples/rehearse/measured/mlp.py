"""Train a perceptron as itu-rad/GPUMemNet, NeuroNetGen_scripts/MLP/mlp.py, describes them.

    python mlp.py --inputs 3503 --outputs 95 --depth 9 --batch 270 --kind uniform
"""

import argparse
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402


def widths(options):
    """Of all layers, from the inputs to the outputs."""
    found = [options.inputs]
    if options.kind == "gradual":
        less = (options.inputs - options.outputs) // options.depth
        for _ in range(options.depth):
            found.append(max(found[-1] - less, options.outputs))
    elif options.kind == "uniform":
        found += options.depth * [options.inputs]
    else:
        for _ in range(options.depth + (options.kind == "bottleneck")):
            found.append(max(found[-1] // 2, options.outputs))
    return found + [options.outputs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("inputs", "outputs", "depth", "batch"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--kind", choices=("pyramid", "uniform", "bottleneck", "gradual"))
    parser.add_argument("--steps", type=int, default=4)
    marks.add_arguments(parser)
    options = parser.parse_args()
    with marks.Marks(options) as run:
        layers = []
        for inputs, outputs in zip(widths(options), widths(options)[1:]):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        model = nn.Sequential(*layers[:-1]).to(run.device)
        run.model(model)
        model(torch.rand(2, 1, options.inputs).to(run.device))  # a summary of the model
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(options.steps):
            inputs = torch.randn(options.batch, options.inputs).to(run.device)
            labels = torch.randint(options.outputs, (options.batch,)).to(run.device)
            optimizer.zero_grad()
            answers = model(inputs)
            loss = functional.cross_entropy(answers, labels)
            loss.backward()
            optimizer.step()
            run.step(step, loss)


if __name__ == "__main__":
    main()
