"""A graph network's smoothness penalty is collected for a plot, and each value holds its graph."""

import torch
from torch import nn

NODES, EDGES, FEATURES, STEPS = 4096, 16384, 64, 14


class Convolution(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width_in, width_out))

    def forward(self, x, source, target):
        messages = (x @ self.weight)[source]
        return torch.zeros(NODES, messages.shape[1], device="cuda").index_add(0, target, messages)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Convolution(FEATURES, 128)
        self.second = Convolution(128, 32)
        self.classify = nn.Linear(32, 7)

    def forward(self, x, edges):
        x = torch.relu(self.first(x, *edges))
        x = torch.relu(self.second(x, *edges))
        return self.classify(x), x


def smoothness(x, edges):
    return (x[edges[0]] - x[edges[1]]).square().sum(1).mean()


def main():
    x = torch.randn(NODES, FEATURES).cuda()
    edges = torch.randint(NODES, (2, EDGES)).cuda()
    labels = torch.randint(7, (NODES,)).cuda()
    model = Network().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
    penalties = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        scores, hidden = model(x, edges)
        nn.functional.cross_entropy(scores, labels).backward()
        optimizer.step()
        penalties.append(smoothness(model(x, edges)[1], edges))
    return penalties


if __name__ == "__main__":
    main()
