"""The U-Net of denoising diffusion: residual blocks that know the time, attention at the coarse
levels, and skip connections that keep every level's features until the way back up."""

import math

import torch
from torch import nn
from torch.nn import functional


def time_features(times, width):
    """Sines and cosines of the diffusion time, [batch] -> [batch, width]."""
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half, device=times.device) / half)
    angles = times.float()[:, None] * frequencies[None]
    return torch.cat((angles.sin(), angles.cos()), dim=1)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, time_width):
        super().__init__()
        self.norm_in = nn.GroupNorm(32, inputs)
        self.conv_in = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time_width, outputs)
        self.norm_out = nn.GroupNorm(32, outputs)
        self.conv_out = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shortcut = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, time):
        y = self.conv_in(functional.silu(self.norm_in(x)))
        y = y + self.time(time)[:, :, None, None]
        y = self.conv_out(functional.silu(self.norm_out(y)))
        return y + self.shortcut(x)


class Attention(nn.Module):
    def __init__(self, channels, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(32, channels)
        self.qkv = nn.Conv2d(channels, 3 * channels, 1)
        self.project = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, 3, self.heads, channels // self.heads, -1)
        q, k, v = qkv.transpose(3, 4).unbind(1)
        y = functional.scaled_dot_product_attention(q, k, v)
        return x + self.project(y.transpose(2, 3).reshape(batch, channels, height, width))


class Level(nn.Module):
    """One residual block and, where the image is small enough, attention."""

    def __init__(self, inputs, outputs, time_width, attend):
        super().__init__()
        self.residual = Residual(inputs, outputs, time_width)
        self.attention = Attention(outputs) if attend else nn.Identity()

    def forward(self, x, time):
        return self.attention(self.residual(x, time))


class UNet(nn.Module):
    def __init__(self, channels=128, factors=(1, 2, 2, 4), attend_from=2):
        super().__init__()
        time_width = 4 * channels
        widths = [channels * factor for factor in factors]
        last = len(widths) - 1
        self.channels = channels
        self.time = nn.Sequential(nn.Linear(channels, time_width), nn.SiLU(),
                                  nn.Linear(time_width, time_width), nn.SiLU())
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.down = nn.ModuleList()
        self.shrink = nn.ModuleList()
        inputs = channels
        for index, width in enumerate(widths):
            self.down.append(Level(inputs, width, time_width, index >= attend_from))
            self.shrink.append(nn.Conv2d(width, width, 3, 2, 1) if index < last
                               else nn.Identity())
            inputs = width
        self.middle = Level(inputs, inputs, time_width, True)
        self.up = nn.ModuleList()
        for index, width in reversed(list(enumerate(widths))):
            self.up.append(Level(inputs + width, width, time_width, index >= attend_from))
            inputs = width
        self.norm = nn.GroupNorm(32, inputs)
        self.head = nn.Conv2d(inputs, 3, 3, padding=1)

    def forward(self, images, times):
        time = self.time(time_features(times, self.channels))
        x = self.stem(images)
        skips = []
        for level, shrink in zip(self.down, self.shrink):
            x = level(x, time)
            skips.append(x)
            x = shrink(x)
        x = self.middle(x, time)
        for level in self.up:
            skip = skips.pop()
            if skip.shape[-1] != x.shape[-1]:
                x = functional.interpolate(x, scale_factor=2.0, mode="nearest")
            x = level(torch.cat((x, skip), dim=1), time)
        return self.head(functional.silu(self.norm(x)))
