"""Trainings of many shapes, each of 20 steps on CPU tensors; each prints its losses.

    python trainings.py [--autocast bf16|fp16] NAME...

Every one runs in a process of its own, forked after the import of PyTorch, so that techniques find
it as they would find a program. --autocast: the program's own region, and scaler.
"""
import argparse
import contextlib
import os
import sys

import torch
import torch._dynamo  # of optimizers: imported once, before the forks
from torch import nn
from torch.nn import functional

STEPS, ROWS, LENGTH, VOCABULARY, WIDTH = 20, 12, 8, 160, 32
PAD = 0
OWN = None  # the type of the program's own autocast


def region():
    return torch.autocast("cpu", OWN) if OWN else contextlib.nullcontext()


def make_scaler():
    return torch.amp.GradScaler("cpu", enabled=OWN is torch.float16)


def say(*values):
    print("loss", *(f"{float(torch.as_tensor(value).detach()):.9g}" for value in values), flush=True)


class Block(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(WIDTH), nn.Dropout(dropout)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.drop(self.down(functional.gelu(self.up(self.norm(x)))))


class Language(nn.Module):
    """Tied weights; logits."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block(dropout) for _ in range(4))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class WithLoss(nn.Module):
    """A dictionary in, a dictionary out; the loss is way(logits, labels)."""

    def __init__(self, way, dropout=0.0):
        super().__init__()
        self.inner, self.way = Language(dropout), way

    def forward(self, batch):
        logits = self.inner(batch["tokens"])
        return {"loss": self.way(logits, batch["labels"]), "logits": logits}


def sentences(rows=ROWS, pad=PAD):
    """Tokens with paddings of very different lengths, so that rows count for more or less."""
    tokens = torch.randint(1, VOCABULARY, (rows, LENGTH + 1))
    labels = tokens[:, 1:].clone()
    for row in range(rows):
        labels[row, 1 + (row * LENGTH) // rows:] = pad
    return {"tokens": tokens[:, :-1], "labels": labels}


def mean_of_tokens(logits, labels):
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


def masked_mean(logits, labels):
    each = functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    mask = (labels != PAD).float()
    return (each * mask).sum() / mask.sum()


def mean_of_chosen(logits, labels):
    chosen = labels != PAD
    return functional.cross_entropy(logits[chosen], labels[chosen])


def total(logits, labels):
    return 0.02 * functional.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                                           ignore_index=PAD, reduction="sum")


def weighed(logits, labels):
    weight = torch.linspace(0.5, 2.0, VOCABULARY)
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), weight,
                                    ignore_index=PAD, label_smoothing=0.1)


def mean_and_penalty(logits, labels):
    return mean_of_tokens(logits, labels) + 1e-3 * logits.square().mean()


def root(logits, labels):
    return mean_of_tokens(logits, labels).sqrt()


def per_sentence(logits, labels):
    """The mean over sentences of each one's mean."""
    each = functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    mask = (labels != PAD).float()
    return ((each * mask).sum(1) / mask.sum(1)).mean()


def divided_by_length(logits, labels):
    """As of examples/rehearse: a sum by a number that Python counts."""
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum") \
        / labels.numel()


def with_loss(way, dropout=0.0):
    """A model that returns its loss, schedules per step, clips, evaluates between epochs."""
    model = WithLoss(way, dropout)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS)
    scaler = make_scaler()
    for step in range(STEPS):
        model.train()
        with region():
            loss = model(sentences(5 if step % 5 == 4 else ROWS))["loss"]  # the last is short
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        say(loss, norm)
        if step % 5 == 4:
            model.eval()
            with torch.no_grad(), region():
                say(model(sentences())["loss"])


def without_clipping(dropout=0.1):
    """Its loss outside of the model; dropout; weights that are tied; no clipping."""
    model = Language(dropout)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    scaler = make_scaler()
    for step in range(STEPS):
        batch = sentences(5 if step % 5 == 4 else ROWS)
        with region():
            loss = mean_of_tokens(model(batch["tokens"]), batch["labels"])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        say(loss)


def clipping(dropout=0.1):
    """The same, with clipping and an evaluation that forgets no_grad."""
    model = Language(dropout)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    scaler = make_scaler()
    for step in range(STEPS):
        model.train()
        batch = sentences(5 if step % 5 == 4 else ROWS)
        with region():
            loss = mean_of_tokens(model(batch["tokens"]), batch["labels"])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        say(loss, norm)
        if step % 5 == 4:
            model.eval()
            with region():
                say(mean_of_tokens(model(batch["tokens"]), batch["labels"]))


def tiny_gradients():
    """Losses of 1e-4: in float16 their gradients vanish without loss scaling."""
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    scaler = make_scaler()
    for _ in range(STEPS):
        batch = sentences()
        with region():
            loss = 1e-4 * mean_of_tokens(model(batch["tokens"]), batch["labels"])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        say(1e4 * loss)


def images(kind):
    """Convolutions, and a normalization of the given kind; sum over the batch by hand."""
    norm = {"batch": nn.BatchNorm2d, "group": lambda count: nn.GroupNorm(4, count)}[kind]

    def block():
        return nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), norm(8), nn.ReLU(),
                             nn.Conv2d(8, 8, 3, padding=1))
    model = nn.Sequential(nn.Conv2d(3, 8, 3), block(), block(), block(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    for _ in range(STEPS):
        x, y = torch.randn(10, 3, 8, 8), torch.randint(10, (10,))
        with region():
            loss = functional.cross_entropy(model(x), y, reduction="sum") / len(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(loss)
    for name, buffer in model.named_buffers():
        say(buffer.double().sum())


def own_scaler():
    """float16 with a scaler of its own, and accumulation of its own."""
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    scaler = torch.amp.GradScaler("cpu", 1024.0)
    for _ in range(STEPS):
        for _ in range(2):
            batch = sentences()
            with torch.autocast("cpu", torch.float16):
                loss = mean_of_tokens(model(batch["tokens"]), batch["labels"]) / 2
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        say(2 * loss, norm, scaler.get_scale())


def adversaries():
    """Two models and two optimizers; the second's loss goes through the first."""
    maker = nn.Sequential(nn.Linear(16, WIDTH), *(Block() for _ in range(3)))
    judge = nn.Sequential(*(Block() for _ in range(3)), nn.Linear(WIDTH, 1))
    make_step = torch.optim.Adam(maker.parameters(), 2e-3, betas=(0.5, 0.999))
    judge_step = torch.optim.Adam(judge.parameters(), 2e-3, betas=(0.5, 0.999))
    objective = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        real, noise = torch.randn(ROWS, WIDTH), torch.randn(ROWS, 16)
        with region():
            made = maker(noise)
            judged = objective(judge(real), torch.ones(ROWS, 1)) + \
                objective(judge(made.detach()), torch.zeros(ROWS, 1))
        judge_step.zero_grad()
        judged.backward()
        judge_step.step()
        with region():
            fooled = objective(judge(made), torch.ones(ROWS, 1))
        make_step.zero_grad()
        fooled.backward()
        make_step.step()
        say(judged, fooled)


def closure():
    """LBFGS."""
    model = nn.Sequential(*(Block() for _ in range(3)), nn.Linear(WIDTH, 4))
    optimizer = torch.optim.LBFGS(model.parameters(), 0.1, max_iter=4)
    x, y = torch.randn(ROWS, WIDTH), torch.randint(4, (ROWS,))

    def evaluate():
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for _ in range(STEPS):
        say(optimizer.step(evaluate))


def regression():
    """A mean of squares in the model, a part of which is frozen, and an average of the weights."""
    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(*(Block(0.1) for _ in range(4)))
            self.head = nn.Linear(WIDTH, 3)

        def forward(self, x, y=None):
            out = self.head(self.body(x))
            return out if y is None else (functional.smooth_l1_loss(out, y), out)

    model = Regression()
    for parameter in model.body[0].parameters():
        parameter.requires_grad_(False)
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.RAdam([one for one in model.parameters() if one.requires_grad], 1e-2)
    scaler = make_scaler()
    for step in range(STEPS):
        x, y = torch.randn(ROWS, WIDTH), torch.randn(ROWS, 3)
        with region():
            loss, _ = model(x, y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        average.update_parameters(model)
        say(loss)
        if step % 5 == 4:
            with torch.no_grad():
                say(average(x).square().mean())


def classifier():
    return nn.Sequential(*(Block() for _ in range(3)), nn.Linear(WIDTH, VOCABULARY))


def rows_and_classes(rows=ROWS):
    return torch.randn(rows, WIDTH), torch.randint(VOCABULARY // 2, (rows,))


def train(model, loss_of, optimizer=None, set_to_none=True):
    """loss_of(step) is what is learnt; its parts may be several."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(STEPS):
        losses = loss_of(step)
        losses = losses if isinstance(losses, tuple) else (losses,)
        optimizer.zero_grad(set_to_none=set_to_none)
        for number, loss in enumerate(losses):
            loss.backward(retain_graph=number + 1 < len(losses))
        optimizer.step()
        say(*losses)


def meta():
    """The loss at weights after a step of gradient descent, which functional_call() lends."""
    model = classifier()

    def loss_of(_):
        weights = dict(model.named_parameters())
        (x, y), (others, wanted) = rows_and_classes(), rows_and_classes()
        gradients = torch.autograd.grad(functional.cross_entropy(model(x), y), weights.values())
        moved = {name: weight - 0.5 * gradient
                 for (name, weight), gradient in zip(weights.items(), gradients)}
        return functional.cross_entropy(torch.func.functional_call(model, moved, (others,)), wanted)

    train(model, loss_of)


def private():
    """Gradients of each row, each clipped, by transforms of torch.func."""
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)

    def loss_of(weights, x, y):
        return functional.cross_entropy(
            torch.func.functional_call(model, weights, (x[None],)), y[None])

    of_rows = torch.func.vmap(torch.func.grad_and_value(loss_of), (None, 0, 0))
    for _ in range(STEPS):
        weights = {name: weight.detach() for name, weight in model.named_parameters()}
        gradients, losses = of_rows(weights, *rows_and_classes())
        for name, weight in model.named_parameters():
            weight.grad = gradients[name].clamp(-0.1, 0.1).mean(0)
        optimizer.step()
        say(losses.mean())


def forbidden():
    """Classes that no row may have: their logits are written to."""
    model = classifier()

    def loss_of(_):
        x, y = rows_and_classes()
        logits = model(x)
        logits[..., VOCABULARY // 2:] = -1e4
        return functional.cross_entropy(logits.view(-1, VOCABULARY), y)

    train(model, loss_of)


def penalized():
    """A penalty on the gradient of the inputs."""
    model = classifier()

    def loss_of(_):
        x, y = rows_and_classes()
        logits = model(x.requires_grad_())
        slope, = torch.autograd.grad(logits.logsumexp(1).sum(), x, create_graph=True)
        return functional.cross_entropy(logits, y) + slope.square().sum(1).mean()

    train(model, loss_of)


def twice():
    """Two backward passes through one graph."""
    model = classifier()

    def loss_of(_):
        x, y = rows_and_classes()
        logits = model(x)
        return functional.cross_entropy(logits, y), 1e-2 * logits.square().mean()

    train(model, loss_of)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = classifier(), classifier()

    def forward(self, x, y):
        return self.one(x) @ self.other(y).T / VOCABULARY


class Routed(nn.Module):
    """Keeps a loss beside its output."""

    def __init__(self):
        super().__init__()
        self.router, self.inner, self.balance = nn.Linear(WIDTH, 2), classifier(), None

    def forward(self, x):
        gates = self.router(x).softmax(-1)
        self.balance = gates.mean(0).square().sum()
        return self.inner(x) * gates[:, :1]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.LSTM(WIDTH, WIDTH, 2, batch_first=True), nn.Linear(WIDTH, 4)

    def forward(self, x, states=None):
        out, states = self.inner(x, states)
        return self.head(out), states


def pairs():
    model = Pairs()
    train(model, lambda _: functional.cross_entropy(
        model(torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH)), torch.arange(ROWS)))


def routed():
    model = Routed()

    def loss_of(_):
        x, y = rows_and_classes()
        return functional.cross_entropy(model(x), y) + model.balance

    train(model, loss_of)


def carried():
    """The states of one batch begin the next."""
    model = Recurrent()
    states = None

    def loss_of(_):
        nonlocal states
        states = states and tuple(one.detach() for one in states)
        out, states = model(torch.randn(8, 5, WIDTH), states)
        return functional.cross_entropy(out.flatten(0, 1), torch.randint(4, (40,)))

    train(model, loss_of)


def hooked():
    """The loss has a part that a hook took from within the model."""
    model = classifier()
    seen = []
    model[1].register_forward_hook(lambda module, given, out: seen.append(out))

    def loss_of(_):
        x, y = rows_and_classes()
        seen.clear()
        return functional.cross_entropy(model(x), y) + 0.1 * (seen[0] - x).square().mean()

    train(model, loss_of)


def spectral():
    """A weight that is estimated anew in each call, from a buffer."""
    model = classifier()
    torch.nn.utils.parametrizations.spectral_norm(model[1].up)

    def loss_of(_):
        x, y = rows_and_classes()
        return functional.cross_entropy(model(x), y)

    train(model, loss_of)


def skipping():
    """Blocks that some steps leave out, with gradients of zeros, decay and no momentum."""
    model = classifier()

    def loss_of(step):
        x, y = rows_and_classes()
        for number, block in enumerate(model):
            if (step + number) % 3 or number == 3:
                x = block(x)
        return functional.cross_entropy(x, y)

    train(model, loss_of, torch.optim.SGD(model.parameters(), 0.1, weight_decay=0.1),
          set_to_none=False)


def logging():
    """Gradients are looked at after the step."""
    model = classifier()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(STEPS):
        x, y = rows_and_classes()
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(loss, sum(weight.grad.norm() for weight in model.parameters()))


def measuring():
    """How often it was right is counted after the step."""
    model = WithLoss(mean_of_tokens)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(STEPS):
        batch = sentences()
        out = model(batch)
        optimizer.zero_grad()
        out["loss"].backward()
        optimizer.step()
        say(out["loss"], (out["logits"].argmax(-1) == batch["labels"]).float().mean())


def attending():
    """Attention that drops weights, which its caller does not use."""
    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.MultiheadAttention(WIDTH, 4, dropout=0.1, batch_first=True)
            self.head = nn.Linear(WIDTH, 4)

        def forward(self, x):
            out, _ = self.inner(x, x, x)
            return self.head(out[:, 0])

    model = Attending()
    train(model, lambda _: functional.cross_entropy(model(torch.randn(ROWS, 5, WIDTH)),
                                                    torch.randint(4, (ROWS,))))


TRAININGS = {
    "tokens": lambda: with_loss(mean_of_tokens, 0.0),
    "dropout": lambda: with_loss(mean_of_tokens, 0.1),
    "masked": lambda: with_loss(masked_mean),
    "chosen": lambda: with_loss(mean_of_chosen),
    "total": lambda: with_loss(total),
    "weighed": lambda: with_loss(weighed),
    "penalty": lambda: with_loss(mean_and_penalty),
    "root": lambda: with_loss(root),
    "sentence": lambda: with_loss(per_sentence),
    "divided": lambda: with_loss(divided_by_length),
    "outside": without_clipping,
    "outside-plain": lambda: without_clipping(0.0),
    "clipping": clipping,
    "clipping-plain": lambda: clipping(0.0),
    "tiny": tiny_gradients,
    "batch-norm": lambda: images("batch"),
    "group-norm": lambda: images("group"),
    "scaler": own_scaler,
    "adversaries": adversaries,
    "closure": closure,
    "regression": regression,
    "meta": meta,
    "private": private,
    "forbidden": forbidden,
    "penalized": penalized,
    "twice": twice,
    "pairs": pairs,
    "routed": routed,
    "carried": carried,
    "hooked": hooked,
    "spectral": spectral,
    "skipping": skipping,
    "logging": logging,
    "measuring": measuring,
    "attending": attending,
}


def main():
    global OWN
    parser = argparse.ArgumentParser()
    parser.add_argument("--autocast", choices=("bf16", "fp16"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    OWN = {None: None, "bf16": torch.bfloat16, "fp16": torch.float16}[arguments.autocast]
    torch.set_num_threads(1)
    for name in arguments.names or TRAININGS:
        print("training", name, flush=True)
        child = os.fork()
        if child == 0:
            torch.manual_seed(0)
            status = 1
            try:
                TRAININGS[name]()
                status = 0
            except Exception as error:
                print(f"failed {type(error).__name__}: {error}".replace("\n", " "), flush=True)
            report()
            sys.stdout.flush()
            os._exit(status)
        os.waitpid(child, 0)


def report():
    """What became of techniques in this process, as it was written after one of the first steps."""
    path = os.path.join(os.environ.get("PLIMSOLL_WITH_FOLDER", "/nowhere"), f"{os.getpid()}.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            print("report", file.read(), flush=True)


if __name__ == "__main__":
    main()
