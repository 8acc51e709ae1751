"""Low-rank adaptation: a frozen linear layer, and beside it a product of two narrow ones."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, scale=2.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scale = scale
        options = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.down = nn.Parameter(torch.randn(rank, base.in_features, **options) * 0.01)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, **options))

    def forward(self, x):
        narrow = nn.functional.linear(x, self.down)
        return self.base(x) + self.scale * nn.functional.linear(narrow, self.up)


def adapt(model, rank, inside="blocks"):
    """Freeze `model` and put adapters around every linear layer below its member `inside`."""
    model.requires_grad_(False)
    for module in list(getattr(model, inside).modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and not isinstance(module, LoRALinear):
                setattr(module, name, LoRALinear(child, rank))
    return model
