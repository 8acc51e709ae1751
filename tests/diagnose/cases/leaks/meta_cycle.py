"""Meta-learning by second order: backward(create_graph=True) ties each task's weights to their
own gradients, in a cycle through C++ that Python's collector does not see."""

import torch
from torch import nn
from torch.nn import functional

TASKS, SHOTS, WIDTH = 16, 32, 200


def forward(weights, x):
    first, second, third = weights
    return torch.tanh(torch.tanh(x @ first) @ second) @ third


def adapt(weights, x, y):
    own = [weight.detach().clone().requires_grad_() for weight in weights]
    functional.mse_loss(forward(own, x), y).backward(create_graph=True)
    return own, [weight - 0.1 * weight.grad for weight in own]


weights = [nn.Parameter(torch.randn(*shape, device="cuda") * 0.1)
           for shape in ((40, WIDTH), (WIDTH, WIDTH), (WIDTH, 1))]
outer = torch.optim.Adam(weights, lr=1e-3, foreach=False)
for task in range(TASKS):
    x, y = torch.randn(2 * SHOTS, 40).cuda(), torch.randn(2 * SHOTS, 1).cuda()
    own, adapted = adapt(weights, x[:SHOTS], y[:SHOTS])
    loss = functional.mse_loss(forward(adapted, x[SHOTS:]), y[SHOTS:])
    for weight, slope in zip(weights, torch.autograd.grad(loss, own)):
        weight.grad = slope
    outer.step()
