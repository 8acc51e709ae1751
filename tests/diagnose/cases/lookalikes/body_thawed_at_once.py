"""A probe is trained for 12 steps on a frozen body, then all of it with an optimizer of its own."""

import torch
from torch import nn
from transformers import ViTConfig, ViTModel


class Classifier(nn.Module):
    def __init__(self, config, classes=30):
        super().__init__()
        self.body = ViTModel(config, add_pooling_layer=False)
        self.probe = nn.Linear(config.hidden_size, classes)

    def forward(self, images):
        return self.probe(self.body(pixel_values=images).last_hidden_state[:, 0])


def fit(model, optimizer, steps):
    for _ in range(steps):
        images = torch.rand(8, 3, 64, 64, device="cuda")
        classes = torch.zeros(8, dtype=torch.long, device="cuda")
        nn.functional.cross_entropy(model(images), classes).backward()
        optimizer.step()
        optimizer.zero_grad()


config = ViTConfig(hidden_size=288, num_hidden_layers=1, num_attention_heads=4,
                   intermediate_size=1152, image_size=64, patch_size=8)
model = Classifier(config).cuda()
model.body.requires_grad_(False)
fit(model, torch.optim.SGD(model.probe.parameters(), lr=0.1), 12)
model.body.requires_grad_(True)
fit(model, torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True), 18)
