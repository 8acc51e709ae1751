"""A server that shares its device limits itself to a fraction of it, and meets that limit.

--train does the same in training.
"""

import sys

import torch
from torch import nn

WIDTH = 2048


def network():
    return nn.Sequential(*(layer for _ in range(6)
                           for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU()))).cuda()


def serve():
    torch.cuda.set_per_process_memory_fraction(0.005)
    model = network().half()
    with torch.inference_mode():
        for size in (512, 1024, 4096, 16384, 65536):
            model(torch.randn(size, WIDTH).half().cuda())


def train():
    model = network()
    torch.cuda.set_per_process_memory_fraction(0.006, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for size in (256, 1024, 2048, 8192):
        model(torch.randn(size, WIDTH).cuda()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


train() if "--train" in sys.argv else serve()
