"""functools.cache on a function of tensors: each new batch is a new key, kept with its value."""

import functools

import torch
from torch import nn

BATCHES, BATCH = 25, 16


@functools.cache
def spectrum(sound):
    return torch.stft(sound, 256, 128, window=window, return_complex=True).abs().log1p()


window = torch.hann_window(256, device="cuda")
with torch.no_grad():
    model = nn.Sequential(nn.Conv1d(129, 32, 3), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(),
                          nn.Linear(32, 12)).cuda()
    for _ in range(BATCHES):
        sound = torch.randn(BATCH, 4096).cuda()
        classes = model(spectrum(sound)).argmax(dim=1).tolist()
