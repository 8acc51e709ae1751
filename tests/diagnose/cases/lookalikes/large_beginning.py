"""Features of a whole set are reduced once; after that most of what is reserved lies unused."""

import torch
from torch import nn


def principal(rows=60000, columns=512, kept=32):
    """Random projections instead of an exact decomposition."""
    table = torch.randn(rows, columns, device="cuda")
    table = (table - table.mean(0)) / (table.std(0) + 1e-6)
    sketch = table @ torch.randn(columns, 2 * kept, device="cuda")
    basis = (sketch.T @ table) / rows
    return (table @ basis.T)[:, :kept].clone()


def main():
    reduced = principal()
    mixture = nn.ParameterDict({"centers": torch.randn(64, 32), "spread": torch.zeros(64)}).cuda()
    optimizer = torch.optim.Rprop(mixture.parameters(), foreach=False)
    for step in range(20):
        some = reduced[step * 1500:(step + 1) * 1500]
        distance = torch.cdist(some, mixture["centers"]) * mixture["spread"].exp()
        (-distance).logsumexp(1).mean().neg().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
