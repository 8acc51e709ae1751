"""Vision transformer: an image as pieces of 16 x 16 (H: 14 x 14) pixels, a class token, and a plain encoder."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Shape:
    image: int = 224
    patch: int = 16
    width: int = 768
    layers: int = 12
    heads: int = 12
    classes: int = 1000


SIZES = {
    "tiny": Shape(width=192, layers=4, heads=3),
    "B": Shape(),
    "L": Shape(width=1024, layers=24, heads=16),
    "H": Shape(patch=14, width=1280, layers=32, heads=16),
}


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads = shape.heads
        self.norm_attention = nn.LayerNorm(shape.width)
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.project = nn.Linear(shape.width, shape.width)
        self.norm_mlp = nn.LayerNorm(shape.width)
        self.mlp = nn.Sequential(nn.Linear(shape.width, 4 * shape.width), nn.GELU(),
                                 nn.Linear(4 * shape.width, shape.width))

    def attend(self, x):
        batch, count, width = x.shape
        q, k, v = self.qkv(x).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.project(y.transpose(1, 2).reshape(batch, count, width))

    def forward(self, x):
        x = x + self.attend(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class ViT(nn.Module):
    def __init__(self, shape):
        super().__init__()
        pieces = (shape.image // shape.patch) ** 2
        self.patches = nn.Conv2d(3, shape.width, shape.patch, shape.patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, shape.width))
        self.positions = nn.Parameter(torch.zeros(1, pieces + 1, shape.width))
        self.blocks = nn.Sequential(*(Block(shape) for _ in range(shape.layers)))
        self.norm = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.classes)

    def forward(self, images):
        pieces = self.patches(images).flatten(2).transpose(1, 2)
        first = self.class_token.expand(len(images), -1, -1)
        x = torch.cat((first, pieces), dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])
