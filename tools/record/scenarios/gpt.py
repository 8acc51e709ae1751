"""A small GPT: what the scenarios train. Nothing here knows that it is recorded."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """Attention, then a two-layer perceptron, each added to the stream it read."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def attend(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.project(y.transpose(1, 2).reshape(batch, time, width))

    def forward(self, x):
        x = x + self.attend(self.norm_attention(x))
        return x + self.contract(functional.gelu(self.expand(self.norm_mlp(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary=4096, context=512, width=256, heads=4, layers=2,
                 checkpointing=False):
        super().__init__()
        self.checkpointing = checkpointing
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1],
                                                              device=tokens.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointing else block(x)
        logits = self.head(self.norm(x))
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batch(size, time, device="cuda", vocabulary=4096):
    """Random tokens and their successors, made on the host and copied as a loader would."""
    tokens = torch.randint(vocabulary, (size, time + 1)).to(device)
    return tokens[:, :-1], tokens[:, 1:]
