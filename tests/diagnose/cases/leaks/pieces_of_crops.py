"""Pictures come in growing sizes; of each a little more than half is kept, cut out of the memory
the picture had, in a list of twelve. Small canvases fit between them; a large one fits nowhere,
although more than its size is free."""

import collections

import torch

MIB, ROUNDS = 2**20, 12


def pictures():
    for number in range(ROUNDS):
        yield torch.empty((24 + 2 * number) * MIB, dtype=torch.uint8, device="cuda")


def crops(source, limit=ROUNDS):
    kept = collections.deque(maxlen=limit)
    for picture in source:
        mean, size = picture[:1024].float().mean(), picture.numel() * 11 // 20
        del picture
        kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        kept[-1][0] = mean
    return kept


kept = crops(pictures())
for side in [4] * 30 + [150]:
    canvas = torch.zeros(side * MIB, dtype=torch.uint8, device="cuda")
    for crop in kept:
        canvas[:crop.numel()].add_(crop[:canvas.numel()])
