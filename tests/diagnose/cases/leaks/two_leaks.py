"""Two leaks at once: embeddings by step for a later search, and norms of gradients as tensors."""

import torch
from torch import nn

STEPS, BATCH, WIDTH, CODE = 14, 64, 512, 192


class Triplets(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(WIDTH, 256), nn.BatchNorm1d(256), nn.LeakyReLU(),
                                 nn.Linear(256, CODE))

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=1)


def main():
    model = Triplets().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = nn.TripletMarginLoss()
    pool, norms = {}, []
    for step in range(STEPS):
        anchor, same, other = (model(torch.randn(BATCH, WIDTH).cuda()) for _ in range(3))
        loss_of(anchor, same, other).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        optimizer.step()
        optimizer.zero_grad()
        pool[step] = anchor.detach()


if __name__ == "__main__":
    main()
