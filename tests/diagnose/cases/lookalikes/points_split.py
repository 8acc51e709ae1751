"""Gaussian splatting: every 4 steps points are split, states and all, until step 24 of 40."""

import torch
from torch import nn

KINDS = {"place": 3, "color": 48, "shape": 7, "opacity": 1}


class Cloud:
    def __init__(self, points=6000):
        self.points = {kind: nn.Parameter(torch.zeros(points, width, device="cuda"))
                       for kind, width in KINDS.items()}
        self.optimizer = torch.optim.Adam([{"params": [value], "name": kind}
                                           for kind, value in self.points.items()], fused=True)

    def split(self, share=0.25):
        """New points beside a share of the old ones; their states begin at zero."""
        for group in self.optimizer.param_groups:
            old, = group["params"]
            more = int(len(old) * share)
            new = nn.Parameter(torch.cat([old.data, old.data[:more]]))
            state = self.optimizer.state.pop(old)
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = torch.cat([state[name], torch.zeros_like(old.data[:more])])
            self.optimizer.state[new] = state
            group["params"] = [new]
            self.points[group["name"]] = new

    def render(self, view):
        near = torch.exp(-(self.points["place"] @ view).square().sum(1))
        weight = near * self.points["opacity"].sigmoid()[:, 0] * self.points["shape"].sum(1)
        return weight @ self.points["color"]


cloud = Cloud()
for step in range(1, 41):
    picture = cloud.render(torch.randn(3, 2, device="cuda"))
    picture.square().mean().backward()
    cloud.optimizer.step()
    cloud.optimizer.zero_grad()
    if step <= 24 and step % 4 == 0:
        cloud.split()
