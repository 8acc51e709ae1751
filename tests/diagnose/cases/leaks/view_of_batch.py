"""One picture of each batch is kept to show progress; the picture is a view of the whole batch."""

import torch
from torch import nn

BATCH, SIDE, STEPS = 32, 48, 20


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1))
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(),
                                nn.ConvTranspose2d(16, 3, 4, 2, 1))

    def forward(self, images):
        return self.up(self.down(images))


def pictures():
    for _ in range(STEPS):
        host = torch.rand(BATCH, 3, SIDE, SIDE)
        yield host.to("cuda", non_blocking=True)


def main():
    model = Autoencoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    shown = []
    for images in pictures():
        loss = nn.functional.mse_loss(model(images), images)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        shown.append(images[0])
    return shown


if __name__ == "__main__":
    main()
