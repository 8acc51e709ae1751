# Samples of a class with slots.
# keeper: samples
import torch


class Sample:
    __slots__ = ("features", "target")

    def __init__(self, features, target):
        self.features = features
        self.target = target


def load(count):
    samples = []
    for index in range(count):
        samples.append(Sample(torch.randn(1024, 1024).cuda(), index))  # blame
    return samples


load(3000)
