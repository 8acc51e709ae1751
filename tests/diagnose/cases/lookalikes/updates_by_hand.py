"""No optimizer: momentum is a dictionary made at first use, and twelve norms are remembered."""

import collections

import torch

velocity = {}
norms = collections.deque(maxlen=12)


def parameters():
    shapes = {"w1": (784, 640), "b1": (640,), "w2": (640, 640), "b2": (640,), "w3": (640, 10)}
    return {name: torch.zeros(shape, device="cuda", requires_grad=True)
            for name, shape in shapes.items()}


def forward(p, x):
    h = torch.relu(x @ p["w1"] + p["b1"])
    h = torch.relu(h @ p["w2"] + p["b2"]) + h
    return h @ p["w3"]


def step(p, rate=0.05, inertia=0.9, warm=6):
    loss = forward(p, torch.rand(200, 784, device="cuda")).logsumexp(1).mean()
    slopes = dict(zip(p, torch.autograd.grad(loss, list(p.values()))))
    norms.append(torch.stack([slope.norm() for slope in slopes.values()]))
    with torch.no_grad():
        for name, slope in slopes.items():
            if len(norms) > warm:
                slope = velocity.setdefault(name, torch.zeros_like(slope)).mul_(inertia).add_(slope)
            p[name] -= rate * slope


weights = parameters()
for _ in range(40):
    step(weights)
