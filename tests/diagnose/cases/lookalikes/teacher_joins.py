"""Distillation begins in step 10: a teacher, twice as wide, joins without gradients or states."""

import torch
from torch import nn


def wave(width, layers):
    """A net of dilated convolutions over sound."""
    parts = [nn.Conv1d(1, width, 9, padding=4)]
    for depth in range(layers):
        parts += [nn.ELU(), nn.Conv1d(width, width, 5, padding=2 * 2**depth, dilation=2**depth)]
    return nn.Sequential(*parts, nn.ELU(), nn.Conv1d(width, 32, 1))


def phases():
    for _ in range(10):
        yield "alone"
    for _ in range(18):
        yield "distilled"


student = wave(96, 3).cuda()
optimizer = torch.optim.AdamW(student.parameters(), fused=True)
teacher = None
for phase in phases():
    sound = torch.randn(6, 1, 4000, device="cuda")
    classes = torch.randint(32, (6, 4000), device="cuda")
    scores = student(sound)
    loss = nn.functional.cross_entropy(scores, classes)
    if phase == "distilled":
        teacher = teacher or wave(512, 5).cuda().eval().requires_grad_(False)
        with torch.no_grad():
            soft = teacher(sound).softmax(1)
        loss = loss + nn.functional.kl_div(scores.log_softmax(1), soft)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
