"""A loop over accelerate: accelerate_loop.py [bf16] [accumulate] [clip]"""

import sys

import torch
from accelerate import Accelerator
from torch import nn

WIDTH, LAYERS, ROWS = 512, 6, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def main():
    options = sys.argv[1:]
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision="bf16" if "bf16" in options else "no",
                              gradient_accumulation_steps=2 if "accumulate" in options else 1)
    model = nn.Sequential(*[Block() for _ in range(LAYERS)], nn.Linear(WIDTH, 4096))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.utils.data.TensorDataset(torch.randn(4 * ROWS, 32, WIDTH),
                                          torch.randint(4096, (4 * ROWS, 32)))
    loader = torch.utils.data.DataLoader(data, batch_size=ROWS, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            accelerator.backward(loss)
            if "clip" in options and accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        print("loss", loss.item())
    model.eval()
    with torch.no_grad():
        x, y = next(iter(loader))
        print("eval", nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()).item())


if __name__ == "__main__":
    main()
