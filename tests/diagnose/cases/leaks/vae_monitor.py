"""A VAE sums up its divergence for the progress bar, as a tensor with its graph.

The sum is never read as a number. Each step adds a link to one chain, and a link keeps the means,
the variances and the encoder's activations that it came from.
"""

import torch
from torch import nn
from torch.nn import functional

WIDTH, CODE, BATCH, STEPS = 784, 64, 128, 15

encoder = nn.Sequential(nn.Linear(WIDTH, 512), nn.GELU(), nn.Linear(512, 2 * CODE)).cuda()
decoder = nn.Sequential(nn.Linear(CODE, 512), nn.GELU(), nn.Linear(512, WIDTH)).cuda()
weights = [*encoder.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(weights, lr=1e-3)


def divergence(mean, log_variance):
    return -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1).mean()


def train(x):
    mean, log_variance = encoder(x).chunk(2, dim=1)
    code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
    loss = functional.binary_cross_entropy_with_logits(decoder(code), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean, log_variance = encoder(x).chunk(2, dim=1)
    return divergence(mean, log_variance)


total = 0
for step in range(STEPS):
    total = total + train(torch.rand(BATCH, WIDTH).cuda())
    if step % 10 == 0:
        print(f"step {step}")
