"""What the programs with planted bugs share: a perceptron, batches, and the switches.

Each of them is right with --fixed and wrong without, and prints memory after every step, so that
the difference can be watched.
"""

import argparse
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402

FEATURES = 1024
CLASSES = 4096
BATCH = 256


def parse(description, steps=12):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="without the bug")
    parser.add_argument("--steps", type=int, default=steps)
    marks.add_arguments(parser)
    return parser.parse_args()


def run(arguments):
    """Marks that remember every step: what grows is what these programs are about."""
    marked = marks.Marks(arguments)
    marked.steps_marked = arguments.steps
    return marked


class Perceptron(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(FEATURES, FEATURES) for _ in range(layers))
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)


def perceptron():
    with torch.device("cuda"):
        return Perceptron()


def batch(size=BATCH):
    """Features and classes, from the host."""
    return torch.randn(size, FEATURES).cuda(), torch.randint(CLASSES, (size,)).cuda()
