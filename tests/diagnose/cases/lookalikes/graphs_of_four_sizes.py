"""A server captures a CUDA graph the first time it sees one of four batch sizes, then replays."""

import random

import torch
from torch import nn

SIZES = (8, 16, 32, 64)


class Captured:
    def __init__(self, model, size):
        self.given = torch.zeros(size, 768, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            model(self.given)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.answer = model(self.given)

    def __call__(self, rows):
        self.given[:len(rows)].copy_(rows)
        self.graph.replay()
        return self.answer[:len(rows)].clone()


class Server:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(768, 2048), nn.SiLU(), nn.Linear(2048, 768)).cuda()
        self.graphs = {}

    @torch.inference_mode()
    def answer(self, rows):
        size = next(size for size in SIZES if size >= len(rows))
        if size not in self.graphs:
            self.graphs[size] = Captured(self.model, size)
        return self.graphs[size](rows).cpu()


server, draw = Server(), random.Random(11)
for request in range(60):
    crowd = 8 if request < 10 else 30 if request < 20 else 64
    server.answer(torch.randn(draw.randint(1, crowd), 768).cuda())
