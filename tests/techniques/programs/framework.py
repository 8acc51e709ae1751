"""A loop as frameworks make it, on the CPU: framework.py [gather] [large]

Blocks are recomputed by the program, steps have closures, one loader is for training and evaluation.

    gather  two backward passes for each step, the second in the closure
    large   losses whose scaled gradients overflow in float16
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH, ROWS = 32, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.training else block(x)
        return self.head(x)


def main():
    options = sys.argv[1:]
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    data = torch.utils.data.TensorDataset(torch.randn(48, WIDTH), torch.randint(4, (48,)))
    loader = torch.utils.data.DataLoader(data, batch_size=ROWS)

    def loss_of(x, y):
        loss = nn.functional.cross_entropy(net(x).float(), y)
        return loss * 1e5 if "large" in options else loss

    def closure():
        if "gather" not in options:
            optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        return loss

    for epoch in range(2):
        net.train()
        for x, y in loader:
            if "gather" in options:
                optimizer.zero_grad()
                loss_of(x, y).backward()
            print("loss", len(x), f"{float(optimizer.step(closure)):.6f}")
        net.eval()
        with torch.no_grad():
            print("eval", *(f"{len(x)} {float(loss_of(x, y)):.6f}" for x, y in loader))
    print("finite", all(bool(one.isfinite().all()) for one in net.parameters()))


if __name__ == "__main__":
    main()
