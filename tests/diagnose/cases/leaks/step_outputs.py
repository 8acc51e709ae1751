"""A hand-made trainer with modules and callbacks: what steps return is collected for the end of
the epoch, and no epoch clears it."""

import torch
from torch import nn


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.training_step_outputs = []
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(1200, 256), nn.PReLU(), nn.Linear(256, 37))

    def training_step(self, batch):
        x, y = batch
        logits = self.net(x)
        loss = nn.functional.multi_margin_loss(logits, y)
        self.training_step_outputs.append({"loss": loss, "logits": logits})
        return loss

    def on_train_epoch_end(self):
        losses = torch.stack([output["loss"] for output in self.training_step_outputs])
        print(f"mean {losses.mean():.3f}")

    def configure_optimizers(self):
        return torch.optim.RAdam(self.parameters(), foreach=False)


class Trainer:
    def __init__(self, epochs, steps):
        self.epochs, self.steps = epochs, steps

    def fit(self, module, loader):
        optimizer = module.configure_optimizers()
        for _ in range(self.epochs):
            for _, batch in zip(range(self.steps), loader()):
                def closure():
                    optimizer.zero_grad()
                    loss = module.training_step([part.cuda() for part in batch])
                    loss.backward()
                    return loss
                optimizer.step(closure)
            module.on_train_epoch_end()


def loader():
    while True:
        yield torch.randn(100, 3, 20, 20), torch.randint(37, (100,))


Trainer(epochs=4, steps=6).fit(Module().cuda(), loader)
