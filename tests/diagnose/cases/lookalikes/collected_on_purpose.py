"""The collector is off, and called every 8 steps: each step's cycle waits for it."""

import gc

import torch
from torch import nn


class Node:
    """One cell of a tree that knows its parent, as its parent knows it."""

    def __init__(self, parent, value):
        self.parent, self.value, self.children = parent, value, []
        if parent:
            parent.children.append(self)


class Tree(nn.Module):
    def __init__(self, width=500):
        super().__init__()
        self.split = nn.Linear(width, 2 * width)
        self.score = nn.Linear(width, 1)

    def grow(self, node, depth):
        if depth == 0:
            return self.score(node.value)
        left, right = torch.tanh(self.split(node.value)).chunk(2, dim=1)
        return sum(self.grow(Node(node, half), depth - 1) for half in (left, right))


gc.disable()
tree = Tree().cuda()
optimizer = torch.optim.SGD(tree.parameters(), lr=0.01)
for step in range(36):
    root = Node(None, torch.randn(400, 500, device="cuda"))
    loss = tree.grow(root, 2).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 8 == 7:
        del root, loss
        gc.collect()
