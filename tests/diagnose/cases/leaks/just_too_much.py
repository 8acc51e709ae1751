"""Nothing is wrong but the size: weights that do not fit (weights), a picture with too many
activations (picture), a model too deep for its memory in the second step (deep), or too many beams
(beams)."""

import sys

import torch
from torch import nn
from torch.nn import functional


def weights():
    return [nn.Linear(2048, 2048, device="cuda") for _ in range(40)]


def picture():
    net = nn.Sequential(*(layer for _ in range(12)
                          for layer in (nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()))).cuda()
    net(torch.rand(1, 16, 1024, 1024).cuda()).mean().backward()


def deep():
    blocks = nn.ModuleList(nn.Linear(512, 512) for _ in range(10)).cuda()
    optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1, momentum=0.9)
    for rows in (2048, 8192, 16384):
        x = torch.randn(rows, 512).cuda()
        for block in blocks:
            x = functional.gelu(block(x))
        optimizer.zero_grad()
        x.mean().backward()
        optimizer.step()


@torch.inference_mode()
def beams():
    words, cell = nn.Embedding(8000, 256, device="cuda"), nn.GRUCell(256, 256, device="cuda")
    for count in (16, 256, 4096):
        state = torch.zeros(count, 256, device="cuda")
        for _ in range(4):
            state = cell(words(torch.zeros(count, dtype=torch.long, device="cuda")), state)
            chances = (state @ words.weight.T).log_softmax(-1)
            chances.flatten().topk(count)


{"weights": weights, "picture": picture, "deep": deep, "beams": beams}[sys.argv[1]]()
