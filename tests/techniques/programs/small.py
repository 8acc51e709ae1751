"""Trains small models on the CPU for 20 steps, and prints losses and the states that they leave.

    python small.py gpt|norm [--compile] [--pure] [--own]
"""
import copy
import sys

import torch
from torch import nn
from torch.nn import functional

CLASSES, TIME, WIDTH = 512, 16, 32


class Block(nn.Module):
    """With dropout, a buffer that each call changes, and a count as an attribute."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)
        self.calls = 0
        self.register_buffer("mean", torch.zeros(WIDTH))

    def forward(self, x, *, scale=None):
        self.calls += 1
        self.mean.lerp_(x.detach().mean(dim=(0, 1)), 0.1)
        y = functional.gelu(self.wide(self.norm(x - self.mean)))
        return x + functional.dropout(self.narrow(y), 0.1, self.training) * scale


class Twice(torch.autograd.Function):
    """A function of the program's own on logits."""

    @staticmethod
    def forward(context, x):
        return 2 * x

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


class Language(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.tokens = nn.Embedding(CLASSES, WIDTH)
        self.blocks = nn.ModuleList(block() for _ in range(4))
        self.head = nn.Linear(WIDTH, CLASSES, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        scale = torch.ones(())
        for block in self.blocks:
            x = block(x, scale=scale)
        logits = self.head(x)
        if "--own" in sys.argv:
            logits = Twice.apply(logits)
        return logits, functional.cross_entropy(logits.view(-1, CLASSES), targets.view(-1),
                                                ignore_index=-1, label_smoothing=0.1)


class Pure(nn.Module):
    """Without state: torch.compile can recompute it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, *, scale=None):
        return x + self.narrow(functional.gelu(self.wide(self.norm(x)))) * scale


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return self.second(functional.relu(self.norm(self.first(x)), inplace=True))


def batches(kind):
    for _ in range(20):
        if kind == "gpt":
            tokens = torch.randint(CLASSES, (8, TIME + 1))
            targets = tokens[:, 1:].clone()
            targets[:2, 8:] = -1
            yield tokens[:, :-1], targets
        else:
            yield torch.randn(8, 3, 8, 8), torch.randint(10, (8,))


def main():
    kind = sys.argv[1]
    torch.manual_seed(0)
    model = Language(Pure if "--pure" in sys.argv else Block) if kind == "gpt" else nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), Residual(8, 8), Residual(8, 16), Residual(16, 16),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    called = torch.compile(model, backend="aot_eager") if "--compile" in sys.argv else model
    for step, (inputs, targets) in enumerate(batches(kind)):
        loss = called(inputs, targets)[1] if kind == "gpt" else \
            functional.cross_entropy(called(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {step} {loss.item():.9f}")
        if step == 5:
            copied = copy.deepcopy(model)
    for name, buffer in model.named_buffers():
        print("buffer", name, f"{buffer.double().sum().item():.9f}")
    if kind == "gpt":
        print("calls", [getattr(block, "calls", None) for block in model.blocks])
        copied.eval()
        print("copied", f"{copied(*next(batches(kind)))[1].item():.9f}")
    if "--compile" in sys.argv:
        print("graphs", torch._dynamo.utils.counters["stats"]["unique_graphs"])


if __name__ == "__main__":
    main()
