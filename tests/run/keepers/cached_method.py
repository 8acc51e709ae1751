# functools.lru_cache on a method, without a limit.
# keeper: encode
import functools

import torch


class Encoder:
    def __init__(self):
        self.layer = torch.nn.Linear(1024, 1024, device="cuda")

    @functools.lru_cache(maxsize=None)
    def encode(self, key):
        with torch.no_grad():
            return self.layer(torch.full((1024, 1024), float(key), device="cuda"))  # blame


def main():
    encoder = Encoder()
    total = 0
    for key in range(3000):
        total += encoder.encode(key).shape[0]
    return total


main()
