"""Masks are cached by length without a limit, and almost every text has a length of its own."""

import functools

import torch
from torch import nn

TEXTS, WIDTH, HEADS = 30, 64, 4


@functools.lru_cache(maxsize=None)
def causal(length):
    return torch.full((length, length), float("-inf"), device="cuda").triu(1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, WIDTH)
        self.attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, tokens):
        x = self.embed(tokens)
        x, _ = self.attend(x, x, x, attn_mask=causal(tokens.shape[1]), need_weights=False)
        return self.score(x).mean(dim=1)


model = Reader().cuda().eval()
with torch.inference_mode():
    for number in range(TEXTS):
        length = 320 + (number * 37) % 64
        model(torch.randint(1000, (2, length), device="cuda")).tolist()
