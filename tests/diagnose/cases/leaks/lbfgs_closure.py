"""L-BFGS calls its closure several times a step, and the closure keeps what the network says."""

import torch
from torch import nn

POINTS, STEPS, TRIES = 2048, 7, 2

network = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                        nn.Linear(64, 1)).cuda()
optimizer = torch.optim.LBFGS(network.parameters(), max_iter=TRIES, history_size=3,
                              tolerance_grad=-1.0, tolerance_change=-1.0)
inner = torch.rand(POINTS, 2).cuda().requires_grad_()
history = []


def residual():
    """Poisson's equation, by differentiating the network."""
    u = network(inner)
    slope, = torch.autograd.grad(u.sum(), inner, create_graph=True)
    bend, = torch.autograd.grad(slope.sum(), inner, create_graph=True)
    return bend.sum(dim=1) + 1.0


def closure():
    optimizer.zero_grad()
    left = residual()
    loss = left.square().mean()
    loss.backward()
    history.append(left)
    return loss


for _ in range(STEPS):
    optimizer.step(closure)
