"""A store of embeddings that doubles whenever it is full, and never drops a row."""

import torch
from torch import nn

REQUESTS, BATCH, CODE = 40, 64, 96


class Store:
    def __init__(self):
        self.rows, self.used = torch.empty(128, CODE, device="cuda"), 0

    def add(self, codes):
        if self.used + len(codes) > len(self.rows):
            larger = torch.empty(2 * len(self.rows), CODE, device="cuda")
            larger[:self.used] = self.rows[:self.used]
            self.rows = larger
        self.rows[self.used:self.used + len(codes)] = codes
        self.used += len(codes)


@torch.inference_mode()
def main():
    encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, CODE)).cuda()
    store = Store()
    for _ in range(REQUESTS):
        store.add(encoder(torch.randn(BATCH, 64).cuda()))


main()
