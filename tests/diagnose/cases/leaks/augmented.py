"""A dataset caches augmented pictures on the device by index and epoch: no entry is used twice.

--late caches from the third epoch on, when augmentation starts.
"""

import sys

import torch
from torch import nn

PICTURES, BATCH, SIDE = 40, 8, 32
START, EPOCHS = (3, 6) if "--late" in sys.argv else (0, 4)


class Pictures(torch.utils.data.Dataset):
    def __init__(self):
        self.raw = torch.rand(PICTURES, 3, SIDE, SIDE, dtype=torch.float16)
        self.epoch, self.cache = 0, {}

    def __len__(self):
        return PICTURES

    def __getitem__(self, index):
        if self.epoch < START:
            return self.raw[index].cuda()
        key = index, self.epoch
        if key not in self.cache:
            self.cache[key] = self.raw[index].cuda().flip(-1)
        return self.cache[key]


def main():
    pictures = Pictures()
    model = nn.Sequential(nn.Conv2d(3, 24, 3, 2), nn.CELU(), nn.Conv2d(24, 24, 3, 2), nn.Flatten(),
                          nn.Linear(24 * 49, 9)).cuda().half()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for pictures.epoch in range(EPOCHS):
        for batch in torch.utils.data.DataLoader(pictures, batch_size=BATCH):
            model(batch).float().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()


main()
