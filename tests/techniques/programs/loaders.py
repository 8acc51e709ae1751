"""Trains and evaluates with loaders, and prints the rows of the batches that they give."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(96, 16), torch.randint(0, 4, (96,)))
loaders = DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=16)
evaluation = DataLoader(data, batch_size=32)
model = nn.Linear(16, 4)
print("length", len(loaders[0]))
for loader in loaders:
    model.train()
    print("train", sorted({len(rows) for rows, _ in loader}), len(loader))
    model.eval()
    with torch.no_grad():
        print("evaluate", sorted({len(rows) for rows, _ in evaluation}))
