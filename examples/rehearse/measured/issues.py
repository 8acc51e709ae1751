"""Small programs from reports that say exactly what they got.

    python issues.py --case linear
"""

import argparse
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402


def kept(run):
    """Tensors of a growing size, each held until its successor is there."""
    held = None
    for index in range(10):
        held = torch.rand(1000, 1000, index + 1, device=run.device)
        run.peak_at(f"kept{index}")
    return held


def linear(run):
    """A matrix product, and what it leaves behind."""
    model = nn.Linear(1024, 1024, bias=False).to(run.device)
    run.at("built")
    inputs = torch.rand(1, 512, 1024).to(run.device)
    outputs = model(inputs)
    run.at("forward")
    return outputs


def two_linears(run):
    """Two layers without biases, forward and backward."""
    layers = (nn.Linear(1024, 1024, bias=False) for _ in range(2))
    model = nn.Sequential(*layers).to(run.device)
    inputs = torch.rand(4, 256, 1024).to(run.device)
    total = model(inputs).sum()
    run.at("forward")
    total.backward()
    run.at("backward")


def smallest(run):
    """What is left when a layer of one weight has come and gone."""
    def work():
        model = nn.Linear(1, 1, device=run.device)
        model(torch.randn(1, 1, device=run.device))

    work()
    run.at("end")


def one_tensor(run):
    """One number on the device."""
    torch.ones(1).to(run.device)


def initialised(run):
    """A context, and nothing on the device."""
    torch.cuda.mem_get_info()


def two_zeros(run):
    """4 GiB of zeros, and 3.45 GiB more."""
    held = [torch.zeros(size << 20, dtype=torch.uint8, device=run.device) for size in (4096, 3532)]
    run.at("zeros")
    return held


CASES = {work.__name__.replace("_", "-"): work
         for work in (kept, linear, two_linears, smallest, one_tensor, initialised,
                      two_zeros)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, required=True)
    marks.add_arguments(parser)
    options = parser.parse_args()
    with marks.Marks(options) as run:
        CASES[options.case](run)


if __name__ == "__main__":
    main()
