"""A block of a video autoencoder: 3-D convolutions in bfloat16, without gradients.

With PyTorch 2.9 its peak is six times that of 2.8 (pytorch/pytorch#166643, #177406): that release
leaves cuDNN aside for these convolutions and writes out the columns that each multiplies.
"""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv3d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv3d(channels, channels, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.conv1(x)))


model = nn.Sequential(nn.Conv3d(3, 96, 3, padding=1), Block(96), Block(96))
model.to("cuda", torch.bfloat16)
video = torch.randn(1, 3, 17, 256, 256, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    model(video)
