"""A pool of pages for keys and values: pages are made when none is free, and never given back."""

import random

import torch
from torch import nn

PAGE, WIDTH = 16, 512


class Pool:
    def __init__(self):
        self.free, self.made = [], 0

    def take(self):
        if not self.free:
            self.made += 1
            return torch.empty(2, PAGE, 8, WIDTH, device="cuda")
        return self.free.pop()


class Request:
    def __init__(self, budget):
        self.budget, self.pages, self.length = budget, [], 0

    def write(self, pool, key, value):
        if self.length % PAGE == 0:
            self.pages.append(pool.take())
        page, place = self.pages[-1], self.length % PAGE
        page[0, place], page[1, place] = key, value
        self.length += 4

    @property
    def done(self):
        return self.length >= self.budget


pool, running, draw = Pool(), [], random.Random(4)
project = nn.Linear(WIDTH, 2 * WIDTH).cuda()
with torch.inference_mode():
    for _ in range(90):
        if len(running) < 5:
            running.append(Request(draw.choice([16, 48, 80, 112])))
        for request in running:
            key, value = project(torch.zeros(8, WIDTH, device="cuda")).chunk(2, -1)
            request.write(pool, key, value)
        for request in [request for request in running if request.done]:
            pool.free += request.pages
            running.remove(request)
print("pages made:", pool.made)
