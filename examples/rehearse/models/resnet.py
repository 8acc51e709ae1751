"""ResNet-18 and ResNet-50 for 224 x 224 images, after He et al., "Deep Residual Learning for
Image Recognition", table 1; the stride of a bottleneck is at its 3 x 3 convolution."""

from torch import nn
from torch.nn import functional

LAYERS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


def convolve(inputs, outputs, size, stride=1):
    """A convolution without bias, and the normalisation that follows it."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
                         nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """What both kinds of block share: a body, and a shortcut that fits its output."""

    def __init__(self, body, inputs, outputs, stride):
        super().__init__()
        self.body = body
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else convolve(inputs, outputs, 1, stride)

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x), inplace=True)


def basic(inputs, width, stride):
    body = nn.Sequential(convolve(inputs, width, 3, stride), nn.ReLU(inplace=True),
                         convolve(width, width, 3))
    return Residual(body, inputs, width, stride)


def bottleneck(inputs, width, stride):
    body = nn.Sequential(convolve(inputs, width, 1), nn.ReLU(inplace=True),
                         convolve(width, width, 3, stride), nn.ReLU(inplace=True),
                         convolve(width, 4 * width, 1))
    return Residual(body, inputs, 4 * width, stride)


class ResNet(nn.Module):
    def __init__(self, depth=50, classes=1000):
        super().__init__()
        block, growth = (basic, 1) if depth == 18 else (bottleneck, 4)
        self.stem = nn.Sequential(convolve(3, 64, 7, 2), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, padding=1))
        stages = []
        channels = 64
        for stage, count in enumerate(LAYERS[depth]):
            width = 64 << stage
            for index in range(count):
                stages.append(block(channels, width, 2 if stage and index == 0 else 1))
                channels = growth * width
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, classes)

    def forward(self, images):
        x = self.stages(self.stem(images))
        return self.head(x.mean(dim=(2, 3)))
