# A generator that waits keeps a window of all batches.
# keeper: window
import torch


def batches():
    window = []
    while True:
        batch = torch.randn(1024, 1024, device="cuda")  # blame
        window.append(batch)
        yield batch


def consume(source, steps):
    for _ in range(steps):
        next(source).sum()


consume(batches(), 3000)
