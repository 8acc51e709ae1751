"""One request larger than any device: all pairs of samples, a table of words, or scores of a book.
"""

import sys

import torch
from torch import nn


def pairs():
    codes = nn.Linear(64, 32).cuda()(torch.randn(4000, 64).cuda()).detach()
    print(torch.cdist(codes, codes).shape)
    codes = codes.repeat(50, 1)
    print(torch.cdist(codes, codes).shape)


def table():
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU()).cuda()
    model(torch.randn(8, 256).cuda())
    words = nn.Embedding(60_000_000, 512, device="cuda")
    return model(words(torch.zeros(8, dtype=torch.long, device="cuda")))


def scores():
    with torch.inference_mode():
        for length in (512, 2048, 160_000):
            query = torch.randn(1, 8, length, 32, device="cuda", dtype=torch.half)
            (query @ query.transpose(2, 3)).softmax(-1)


{"pairs": pairs, "table": table, "scores": scores}[sys.argv[1]]()
