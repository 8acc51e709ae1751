"""GPT-2: learned positions, pre-normalised blocks, GELU, and a head that shares its weights with
the token embedding."""

from dataclasses import dataclass
import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


@dataclass
class Shape:
    layers: int = 12
    heads: int = 12
    width: int = 768
    context: int = 1024
    vocabulary: int = 50257
    dropout: float = 0.0
    attention: str = "sdpa"  # or "explicit": the scores exist as a tensor


SIZES = {
    "tiny": Shape(layers=2, heads=4, width=128, context=256, vocabulary=1000),
    "small": Shape(layers=4, heads=8, width=512, context=1024, vocabulary=50257),
    "124M": Shape(),
    "350M": Shape(layers=24, heads=16, width=1024),
    "774M": Shape(layers=36, heads=20, width=1280),
    "1.5B": Shape(layers=48, heads=25, width=1600),
}


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads = shape.heads
        self.dropout = shape.dropout
        self.explicit = shape.attention == "explicit"
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.project = nn.Linear(shape.width, shape.width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (piece.view(batch, time, self.heads, -1).transpose(1, 2)
                   for piece in self.qkv(x).split(width, dim=2))
        if self.explicit:
            y = self.attend(q, k, v)
        else:
            dropout = self.dropout if self.training else 0.0
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True,
                                                        dropout_p=dropout)
        return self.project(y.transpose(1, 2).reshape(batch, time, width))

    def attend(self, q, k, v):
        """Attention as the paper writes it: quadratic memory in the sequence length."""
        time = q.shape[2]
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        future = torch.ones(time, time, dtype=torch.bool, device=q.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=3)
        return functional.dropout(weights, self.dropout, self.training) @ v


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.norm_attention = nn.LayerNorm(shape.width)
        self.attention = Attention(shape)
        self.norm_mlp = nn.LayerNorm(shape.width)
        self.expand = nn.Linear(shape.width, 4 * shape.width)
        self.contract = nn.Linear(4 * shape.width, shape.width)
        self.dropout = shape.dropout

    def drop(self, x):
        return functional.dropout(x, self.dropout, self.training) if self.dropout else x

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm_attention(x)))
        hidden = functional.gelu(self.expand(self.norm_mlp(x)), approximate="tanh")
        return x + self.drop(self.contract(hidden))


class GPT(nn.Module):
    def __init__(self, shape, checkpoint_every=0):
        super().__init__()
        self.shape = shape
        self.checkpoint_every = checkpoint_every
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def hidden(self, tokens):
        """Everything but the head."""
        time = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(torch.arange(time, device=tokens.device))
        for index, block in enumerate(self.blocks):
            if self.checkpoint_every and index % self.checkpoint_every == 0:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.norm(x)

    def forward(self, tokens):
        return self.head(self.hidden(tokens))
