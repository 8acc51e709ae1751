# Work is put off as partial functions, with the tensors that it is for.
# keeper: pending
import functools

import torch


def later(scores, scale):
    return scores.mean() * scale


def main():
    pending = []
    for step in range(3000):
        scores = torch.randn(1024, 1024, device="cuda")  # blame
        pending.append(functools.partial(later, scores, scale=step))
    return [work() for work in pending]


main()
