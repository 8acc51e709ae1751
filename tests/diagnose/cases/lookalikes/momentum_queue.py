"""Contrastive learning with a queue of negatives: it grows for 8 steps, then its oldest leave."""

import collections
import copy

import torch
from torch import nn
from torch.nn import functional

STEPS, LENGTH = 26, 8


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, stride=4)
        self.body = nn.Conv2d(32, 128, 5, stride=4)
        self.project = nn.Linear(128, 512)

    def forward(self, images):
        maps = self.body(self.stem(images).relu()).relu()
        return functional.normalize(self.project(maps.mean((2, 3))), dim=1)


def contrast(query, key, queue):
    near = (query * key).sum(1, keepdim=True)
    far = [query @ old.T for old in queue]
    logits = torch.cat([near, *far], dim=1) / 0.07
    return functional.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long,
                                                        device="cuda"))


def main():
    student = Encoder().cuda()
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.03, momentum=0.9, fused=True)
    queue = collections.deque(maxlen=LENGTH)
    for _ in range(STEPS):
        images = torch.randn(256, 3, 64, 64).cuda()
        with torch.no_grad():
            torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 0.01)
            key = teacher(images.flip(3))
        loss = contrast(student(images), key, queue)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue.append(key)


if __name__ == "__main__":
    main()
