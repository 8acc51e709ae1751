"""Log entries are closures, evaluated when the log is written; it is only written at the end."""

import torch
from torch import nn

STEPS, BATCH, LENGTH, WIDTH = 18, 16, 128, 64


class Log:
    def __init__(self):
        self.pending = []

    def later(self, name):
        def register(function):
            self.pending.append((name, function))
            return function
        return register

    def write(self):
        for name, function in self.pending:
            print(name, f"{function():.3f}")


class Waves(nn.Module):
    """Dilated convolutions over sound."""

    def __init__(self):
        super().__init__()
        self.start = nn.Conv1d(1, WIDTH, 1)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, 2 * WIDTH, 2, dilation=2**k, padding="same")
                                    for k in range(3))
        self.end = nn.Conv1d(WIDTH, 1, 1)

    def forward(self, sound):
        x = self.start(sound)
        for layer in self.layers:
            gate, value = layer(x).chunk(2, dim=1)
            x = x + gate.sigmoid() * value.tanh()
        return self.end(x), x


log = Log()
model = Waves().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    sound = torch.randn(BATCH, 1, LENGTH).cuda()
    said, features = model(sound)
    loss = (said - sound).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

    @log.later(f"spread at {step}")
    def spread(features=features):
        return features.detach().std().item()
log.write()
