"""One request of 90 tokens: keys and values are appended to, and go when the answer is complete."""

import torch
from torch import nn

WIDTH, HEADS = 512, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.three, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, past):
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                             for part in self.three(x).chunk(3, -1))
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        return x + self.out(mixed.transpose(1, 2).flatten(2)), (key, value)


@torch.no_grad()
def answer(blocks, prompt, tokens):
    caches, x = [None] * len(blocks), prompt
    for _ in range(tokens):
        for place, block in enumerate(blocks):
            x, caches[place] = block(x, caches[place])
        x = x[:, -1:]
    return x.mean().item()


blocks = nn.ModuleList(Block() for _ in range(2)).cuda()
answer(blocks, torch.zeros(12, 40, WIDTH, device="cuda"), tokens=90)
