"""Trainings whose results must not change under accumulate=K: each prints its losses.

On CPU tensors, where everything is computed; twelve rows a batch, so that 5 pieces are uneven.
"""
import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, LENGTH, ROWS, STEPS = 50, 16, 8, 12, 6


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + functional.gelu(self.inner(self.norm(x)))


class Language(nn.Module):
    """Returns its loss where it gets targets, as nanoGPT does."""

    def __init__(self, embeds=True):
        super().__init__()
        if embeds:
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x, targets=None):
        x = self.tokens(x) if hasattr(self, "tokens") else x
        logits = self.head(self.blocks(x))
        if targets is None:
            return logits
        return logits, functional.cross_entropy(logits.flatten(0, 1), targets.flatten(),
                                                ignore_index=-1)


def batch():
    tokens = torch.randint(VOCABULARY, (ROWS, LENGTH + 1))
    targets = tokens[:, 1:].clone()
    targets[:5, 2:] = -1  # some rows count for less
    return tokens[:, :-1], targets


def say(name, *figures):
    print(name, *(f"{float(figure):.6f}" for figure in figures), flush=True)


def plain(name, clear, set_to_none=True):
    """clear: where gradients are cleared: "first", "between", "last"."""
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    for _ in range(STEPS):
        tokens, targets = batch()
        if clear == "first":
            optimizer.zero_grad(set_to_none=set_to_none)
        _, loss = model(tokens, targets)
        if clear == "between":
            optimizer.zero_grad(set_to_none=set_to_none)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if clear == "last":
            optimizer.zero_grad(set_to_none=set_to_none)
        say(name, loss, norm)


def accumulating():
    """Gradients of three batches in one step, one of them left out; logits are read."""
    model = Language()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(STEPS):
        for part in range(4):
            tokens, targets = batch()
            logits, loss = model(tokens, targets)
            if part == 2:
                continue
            (loss / 3).backward()
            hits = (logits.argmax(-1) == targets).float().mean()
            say("accumulating", loss, hits, logits[0, 0, 0])
        optimizer.step()
        optimizer.zero_grad()


def scaled():
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)
    for _ in range(STEPS):
        with torch.autocast("cpu", torch.bfloat16, enabled=False):
            _, loss = model(*batch())
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        say("scaled", loss, norm, scaler.get_scale())


def two_roots():
    """The first gives the second an input that requires gradients."""
    first, model = nn.Embedding(VOCABULARY, WIDTH), Language(embeds=False)
    optimizer = torch.optim.AdamW([*first.parameters(), *model.parameters()], 0.01)
    for _ in range(STEPS):
        tokens, targets = batch()
        _, loss = model(first(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say("two_roots", loss, first.weight.sum())


def outside():
    """The loss compares all pairs of rows, of two calls; dropout is drawn again as it was."""
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    for _ in range(STEPS):
        one = torch.randn(ROWS, WIDTH)
        other = one + 0.1 * torch.randn(ROWS, WIDTH)
        loss = functional.cross_entropy(model(one) @ model(other).T, torch.arange(ROWS))
        loss = loss + 0.01 * sum(weight.square().sum() for weight in model.parameters())
        model.zero_grad()
        loss.backward()
        optimizer.step()
        say("outside", loss)


def penalty():
    """torch.autograd.grad for an input's gradient."""
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
    x = torch.randn(ROWS, WIDTH, requires_grad=True)
    gradient, = torch.autograd.grad(model(x).sum(), x)
    say("penalty", gradient.square().sum(), sum(p.grad is not None for p in model.parameters()))


torch.manual_seed(1)
for where in ("first", "between", "last"):
    plain(where, where)
    plain(where + "-zeros", where, set_to_none=False)
accumulating()
scaled()
two_roots()
outside()
penalty()
