"""A thread moves batches to the device; its queue has no limit, and it makes two for each used."""

import queue
import threading

import torch
from torch import nn

STEPS, BATCH, WIDTH = 20, 64, 300


class Prefetcher(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.ready = queue.Queue()
        self.turn = threading.Semaphore(0)
        self.made = threading.Semaphore(0)

    def run(self):
        while True:
            self.turn.acquire()
            for _ in range(2):
                self.ready.put(torch.randn(BATCH, WIDTH).to("cuda", non_blocking=True))
            self.made.release()

    def __next__(self):
        self.turn.release()
        self.made.acquire()
        return self.ready.get()


loader = Prefetcher()
loader.start()
model = nn.Bilinear(WIDTH, WIDTH, 16).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)
for _ in range(STEPS):
    batch = next(loader)
    optimizer.zero_grad()
    model(batch, batch.flip(0)).abs().mean().backward()
    optimizer.step()
