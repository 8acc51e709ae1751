"""Each request is handled in a thread whose context variables keep its result.

The contexts are collected for tracing, and live as long as the program.
"""

import contextvars
import threading

import torch
from torch import nn

REQUESTS, BATCH, WIDTH = 30, 8, 256

current = contextvars.ContextVar("current")
contexts = []


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ELU())
                                    for _ in range(4)))
        self.head = nn.Linear(WIDTH, 1000)

    def forward(self, x):
        return self.head(self.body(x))


def handle(model):
    features = torch.randn(BATCH, WIDTH).cuda()
    with torch.inference_mode():
        scores = model(features)
        current.set({"scores": scores, "best": scores.topk(5).indices.cpu()})


def main():
    model = Classifier().half().float().cuda()
    for _ in range(REQUESTS):
        context = contextvars.copy_context()
        contexts.append(context)
        thread = threading.Thread(target=context.run, args=(handle, model))
        thread.start()
        thread.join()


main()
