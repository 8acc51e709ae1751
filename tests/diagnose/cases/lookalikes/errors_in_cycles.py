"""A caught error is kept in its own frame: the two hold each other, and the frame its tensors."""

import gc

import torch
from torch import nn


class TooLong(Exception):
    pass


def check(hidden, limit):
    if hidden.shape[1] > limit:
        raise TooLong(f"{hidden.shape[1]} words")
    return hidden


def summary(encoder, length):
    """The mean of all words; of a long text, that of its beginning."""
    hidden = encoder(torch.zeros(16, length, 256, device="cuda"))
    failure = None
    try:
        return check(hidden, limit=100).mean(1), failure
    except TooLong as error:
        failure = error
    return hidden[:, :100].mean(1).clone(), str(failure)


encoder = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 320)).cuda()
gc.collect()
gc.freeze()
gc.set_threshold(90, 3, 2)
with torch.no_grad():
    for request in range(90):
        summary(encoder, 60 if request % 3 else 140)
