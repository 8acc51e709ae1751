"""Llama: RMS normalisation, rotary positions, grouped queries, SwiGLU, and a head of its own.

With a cache the model generates: see `DynamicCache` and `StaticCache`.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


@dataclass
class Shape:
    width: int
    layers: int
    heads: int
    groups: int  # heads of keys and values
    hidden: int
    vocabulary: int = 128256
    context: int = 8192

    @property
    def head_width(self):
        return self.width // self.heads


SIZES = {
    "tiny": Shape(width=256, layers=4, heads=8, groups=4, hidden=688, vocabulary=4096),
    "1B": Shape(width=2048, layers=16, heads=32, groups=8, hidden=8192),
    "3B": Shape(width=3072, layers=28, heads=24, groups=8, hidden=8192),
    "8B": Shape(width=4096, layers=32, heads=32, groups=8, hidden=14336),
    "34B": Shape(width=8192, layers=48, heads=64, groups=8, hidden=22016, vocabulary=32000),
    "70B": Shape(width=8192, layers=80, heads=64, groups=8, hidden=28672),
}


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-5)
        return (wide * scale).type_as(x) * self.weight


def rotary_tables(shape, base=500000.0):
    """cos and sin of every position and half of a head's width, in single precision."""
    frequencies = base ** (-torch.arange(0, shape.head_width, 2).float() / shape.head_width)
    angles = torch.outer(torch.arange(shape.context).float(), frequencies)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """Turn each pair (left half, right half) of [batch, heads, time, head_width]."""
    left, right = x.float().chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1).type_as(x)


class DynamicCache:
    """Keys and values grow by concatenation: each new token copies all that came before it."""

    def __init__(self, layers):
        self.kept = [None] * layers
        self.length = 0

    def extend(self, layer, keys, values):
        if self.kept[layer] is not None:
            before_keys, before_values = self.kept[layer]
            keys = torch.cat((before_keys, keys), dim=2)
            values = torch.cat((before_values, values), dim=2)
        self.kept[layer] = (keys, values)
        return keys, values

    def advance(self, count):
        self.length += count


class StaticCache:
    """Keys and values for the longest sequence, allocated once. Attention sees what is filled."""

    def __init__(self, shape, batch, longest, dtype):
        size = (batch, shape.groups, longest, shape.head_width)
        self.keys = [torch.zeros(size, dtype=dtype) for _ in range(shape.layers)]
        self.values = [torch.zeros(size, dtype=dtype) for _ in range(shape.layers)]
        self.length = 0

    def extend(self, layer, keys, values):
        end = self.length + keys.shape[2]
        self.keys[layer][:, :, self.length:end] = keys
        self.values[layer][:, :, self.length:end] = values
        return self.keys[layer][:, :, :end], self.values[layer][:, :, :end]

    def advance(self, count):
        self.length += count


class Attention(nn.Module):
    def __init__(self, shape, layer):
        super().__init__()
        self.shape = shape
        self.layer = layer
        self.q = nn.Linear(shape.width, shape.width, bias=False)
        self.k = nn.Linear(shape.width, shape.groups * shape.head_width, bias=False)
        self.v = nn.Linear(shape.width, shape.groups * shape.head_width, bias=False)
        self.o = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x, rotary, cache):
        batch, time, width = x.shape

        def heads(y):
            return y.view(batch, time, -1, self.shape.head_width).transpose(1, 2)

        q = rotate(heads(self.q(x)), *rotary)
        k = rotate(heads(self.k(x)), *rotary)
        v = heads(self.v(x))
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=time > 1,
                                                    enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, shape, layer):
        super().__init__()
        self.norm_attention = RMSNorm(shape.width)
        self.attention = Attention(shape, layer)
        self.norm_mlp = RMSNorm(shape.width)
        self.gate = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x, rotary, cache=None):
        x = x + self.attention(self.norm_attention(x), rotary, cache)
        y = self.norm_mlp(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, shape, checkpoint_every=0):
        super().__init__()
        self.shape = shape
        self.checkpoint_every = checkpoint_every
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape, layer) for layer in range(shape.layers))
        self.norm = RMSNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        cos, sin = rotary_tables(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def hidden(self, tokens, cache=None):
        """Everything but the head."""
        start = 0 if cache is None else cache.length
        end = start + tokens.shape[1]
        rotary = self.cos[start:end], self.sin[start:end]
        x = self.tokens(tokens)
        for index, block in enumerate(self.blocks):
            if self.checkpoint_every and index % self.checkpoint_every == 0:
                x = checkpoint(block, x, rotary, use_reentrant=False)
            else:
                x = block(x, rotary, cache)
        if cache is not None:
            cache.advance(tokens.shape[1])
        return self.norm(x)

    def forward(self, tokens, cache=None):
        return self.head(self.hidden(tokens, cache))
