"""Each of six streams gets a workspace of cuBLAS at its first product: six rises, then rest."""

import torch
from torch import nn


def pipeline():
    scale = nn.Linear(640, 640, bias=False).cuda().bfloat16()
    return scale.requires_grad_(False)


streams = [torch.cuda.Stream() for _ in range(6)]
weights = pipeline()
for request in range(48):
    # A stream is taken into service every fourth request.
    stream = streams[request % min(len(streams), 1 + request // 4)]
    with torch.cuda.stream(stream):
        sound = torch.empty(200, 640, dtype=torch.bfloat16, device="cuda").normal_()
        for _ in range(3):
            sound = torch.relu(weights(sound))
        peak = sound.amax()
    stream.synchronize()
