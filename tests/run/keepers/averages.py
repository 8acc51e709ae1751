# A deep copy of the weights in every epoch.
# keeper: snapshots
import copy

import torch


def train(model, epochs):
    snapshots = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for _ in range(3):
            model(torch.randn(32, 1024, device="cuda")).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        snapshots.append(copy.deepcopy(model.state_dict()))  # blame
    return snapshots


train(torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(2)]).cuda(), 300)
