"""A server runs out of memory on large requests, catches it, and answers them in halves."""

import torch
from torch import nn

SIZES = [40, 16, 100, 24, 8, 120, 32, 48, 16, 48, 110, 8, 24, 32, 40, 16, 28, 36, 8, 12]


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(1024, 4096), nn.Hardswish(), nn.Linear(4096, 2048))

    def forward(self, pixels):
        return self.rows(pixels).softmax(-1)


def answer(model, images, depth=0):
    """All pictures at once; where they do not fit, in halves."""
    try:
        return model(images.cuda()).argmax(-1).cpu()
    except torch.cuda.OutOfMemoryError:
        pass
    half = len(images) // 2
    return torch.cat([answer(model, images[:half], depth + 1),
                      answer(model, images[half:], depth + 1)])


model = Segmenter().cuda().eval()
with torch.no_grad():
    for size in SIZES:
        answer(model, torch.randn(size, 128, 1024))
