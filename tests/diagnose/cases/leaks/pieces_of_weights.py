"""Weights are read one by one in single precision and kept in half: each reading leaves a hole that
the next, larger one does not fit into, and a half does. The first batch then finds only pieces."""

import torch

SIZES = [20 + 3 * number for number in range(9)]  # MiB in single precision
MIB = 2**20


def read(size):
    return torch.empty(size * MIB // 4, device="cuda")


def load():
    weights = {}
    for number, size in enumerate(SIZES):
        raw = read(size)
        weights[f"layer.{number}"] = raw.half()
        del raw
    return weights


def answer(weights, rows):
    width = 1024
    x = torch.zeros(rows, width, dtype=torch.half, device="cuda")
    for weight in weights.values():
        x = torch.tanh(x @ weight[:width * width].view(width, width))
    return x.float()


weights = load()
for _ in range(4):
    answer(weights, 24 * 1024)
