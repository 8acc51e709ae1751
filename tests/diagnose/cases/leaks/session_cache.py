"""One long conversation: keys and values are concatenated, token by token, without a window."""

import torch
from torch import nn

LAYERS, WIDTH, HEADS, TOKENS, BATCH = 2, 256, 8, 44, 4


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, past):
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                             for part in self.mix(x).chunk(3, dim=-1))
        if past is not None:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        return x + self.out(mixed.transpose(1, 2).flatten(2)), (key, value)


with torch.inference_mode(), torch.device("cuda"):
    layers = nn.ModuleList(Layer() for _ in range(LAYERS))
    session = [None] * LAYERS
    for _ in range(TOKENS):
        x = torch.randn(BATCH, 1, WIDTH)
        for number, layer in enumerate(layers):
            x, session[number] = layer(x, session[number])
