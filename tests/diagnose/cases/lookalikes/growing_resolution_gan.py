"""Progressive growing: larger images and new layers in steps 4 and 8, two optimizers."""

import torch
from torch import nn


def block(width, up):
    scale = [nn.Upsample(scale_factor=2)] if up else []
    return nn.Sequential(*scale, nn.Conv2d(width, width, 3, padding=1), nn.LeakyReLU(0.2),
                         *([] if up else [nn.AvgPool2d(2)]))


class Grower(nn.Module):
    """Blocks between an inner size of 8 and the picture; `grow` adds one."""

    def __init__(self, inner, outer, width=128):
        super().__init__()
        self.enter, self.leave, self.blocks = inner, outer, nn.ModuleList()
        self.width = width

    def grow(self, optimizer, up):
        fresh = block(self.width, up).cuda()
        self.blocks.insert(len(self.blocks) if up else 0, fresh)
        optimizer.add_param_group({"params": list(fresh.parameters())})

    def forward(self, x):
        h = self.enter(x)
        for one in self.blocks:
            h = one(h)
        return self.leave(h)


def networks():
    makes = Grower(nn.ConvTranspose2d(64, 128, 8), nn.Conv2d(128, 3, 1)).cuda()
    judges = Grower(nn.Conv2d(3, 128, 1), nn.Conv2d(128, 1, 8)).cuda()
    return makes, judges


def main():
    makes, judges = networks()
    of_makes = torch.optim.Adam(makes.parameters(), lr=1e-3, betas=(0.0, 0.99), fused=True)
    of_judges = torch.optim.Adam(judges.parameters(), lr=1e-3, betas=(0.0, 0.99), fused=True)
    size = 8
    for step in range(14):
        if step in (0, 4, 8):
            makes.grow(of_makes, up=True)
            judges.grow(of_judges, up=False)
            size *= 2
        real = torch.rand(16, 3, size, size, device="cuda")
        seed = torch.randn(16, 64, 1, 1, device="cuda")

        of_judges.zero_grad()
        with torch.no_grad():
            fake = makes(seed)
        (judges(fake).mean() - judges(real).mean()).backward()
        of_judges.step()

        of_makes.zero_grad()
        (-judges(makes(seed)).mean()).backward()
        of_makes.step()


if __name__ == "__main__":
    main()
