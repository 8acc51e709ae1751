"""A loop in plain PyTorch, as people write it: blocks, AdamW, a loader, an evaluation."""

import sys

import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self, d=512, n=6):
        super().__init__()
        self.blocks = nn.ModuleList([Block(d) for _ in range(n)])
        self.head = nn.Linear(d, 1000)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main():
    torch.manual_seed(0)
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    model = Net().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    criterion = nn.CrossEntropyLoss()
    data = torch.utils.data.TensorDataset(torch.randn(4096, 512), torch.randint(1000, (4096,)))
    loader = torch.utils.data.DataLoader(data, batch_size=1024)
    for epoch in range(1):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad(set_to_none=False)
            out = model(x)
            loss = criterion(out, y)
            loss.backward()
            optimizer.step()
            print("loss", float(loss))
        model.eval()
        with torch.no_grad():
            print("val", float(criterion(model(x), y)))
        model.train()


if __name__ == "__main__":
    main()
