"""GPT-2 124M as a book on language models writes it out, and the steps that made it faster.

    python book_gpt.py                              # all by hand: separate projections, fp32
    python book_gpt.py --classes --flash --bf16     # PyTorch's own layers and attention

After rasbt/LLMs-from-scratch, ch05/10_llm-training-speed. Its model is the one in models/gpt.py
but for the parts below: dropout of 0.1 everywhere, a head of its own, no biases in the projections
of queries, keys and values, and layers spelled out in elementary operations.
"""

import argparse
import os
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402
from models import gpt  # noqa: E402


class SpelledNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(width))
        self.offset = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        spread = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.factor * ((x - mean) / torch.sqrt(spread + 1e-5)) + self.offset


def spelled_gelu(x):
    factor = torch.sqrt(torch.tensor(2.0 / torch.pi))
    return 0.5 * x * (1 + torch.tanh(factor * (x + 0.044715 * torch.pow(x, 3))))


class SpelledAttention(nn.Module):
    """Three projections, and the weights of attention as a tensor."""

    def __init__(self, shape, mask_kept):
        super().__init__()
        self.heads = shape.heads
        self.q, self.k, self.v = (nn.Linear(shape.width, shape.width, bias=False)
                                  for _ in range(3))
        self.project = nn.Linear(shape.width, shape.width)
        self.drop = nn.Dropout(shape.dropout)
        if mask_kept:
            self.register_buffer("mask", self.future(shape.context, None))

    @staticmethod
    def future(time, device):
        return torch.triu(torch.ones(time, time, device=device), diagonal=1)

    def forward(self, x):
        batch, time, width = x.shape
        k, q, v = (layer(x) for layer in (self.k, self.q, self.v))
        k, v, q = (y.view(batch, time, self.heads, -1) for y in (k, v, q))
        k, q, v = (y.transpose(1, 2) for y in (k, q, v))
        scores = q @ k.transpose(2, 3)
        mask = self.mask if hasattr(self, "mask") else self.future(time, x.device)
        scores.masked_fill_(mask.bool()[:time, :time], -torch.inf)
        weights = self.drop(torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1))
        y = (weights @ v).transpose(1, 2).reshape(batch, time, width)
        return self.project(y)


class FusedAttention(nn.Module):
    """One projection and PyTorch's attention."""

    def __init__(self, shape):
        super().__init__()
        self.heads, self.dropout = shape.heads, shape.dropout
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.project = nn.Linear(shape.width, shape.width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(
            q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.project(y.transpose(1, 2).contiguous().view(batch, time, width))


class Block(gpt.Block):
    def __init__(self, shape, options):
        super().__init__(shape)
        del self.norm_attention, self.attention, self.norm_mlp, self.expand, self.contract
        norm = nn.LayerNorm if options.classes else SpelledNorm
        self.attention = FusedAttention(shape) if options.flash \
            else SpelledAttention(shape, not options.mask_on_the_fly)
        self.expand = nn.Linear(shape.width, 4 * shape.width)
        self.contract = nn.Linear(4 * shape.width, shape.width)
        self.norm_attention, self.norm_mlp = norm(shape.width), norm(shape.width)
        self.spelled = not options.classes

    def forward(self, x):
        x = self.drop(self.attention(self.norm_attention(x))) + x
        hidden = self.expand(self.norm_mlp(x))
        hidden = spelled_gelu(hidden) if self.spelled \
            else functional.gelu(hidden, approximate="tanh")
        return self.drop(self.contract(hidden)) + x


class BookGPT(gpt.GPT):
    def __init__(self, shape, options):
        super().__init__(gpt.Shape(layers=0, width=1, heads=1, context=1, vocabulary=1))
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.Sequential(*(Block(shape, options) for _ in range(shape.layers)))
        self.norm = (nn.LayerNorm if options.classes else SpelledNorm)(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

    def forward(self, tokens):
        embedded = self.tokens(tokens)
        where = self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        x = functional.dropout(embedded + where, self.shape.dropout, self.training)
        return self.head(self.norm(self.blocks(x)))


def loss_of(model, options, vocabulary, device):
    tokens = torch.randint(vocabulary, (options.batch, 1025))
    inputs, targets = tokens[:, :-1].contiguous().to(device), tokens[:, 1:].contiguous().to(device)
    logits = model(inputs)
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def evaluate(model, options, vocabulary, device):
    model.eval()
    with torch.no_grad():
        for _ in ("training data", "validation data"):
            loss_of(model, options, vocabulary, device)
    model.train()


def sample(model, vocabulary, device):
    """Fifty tokens, each from the whole text anew."""
    model.eval()
    tokens = torch.randint(vocabulary, (1, 4)).to(device)
    for _ in range(50):
        with torch.no_grad():
            logits = model(tokens)[:, -1, :]
        tokens = torch.cat((tokens, logits.argmax(dim=-1, keepdim=True)), dim=1)
    model.train()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--batch", type=int, default=8)
    add("--steps", type=int, default=3)
    add("--vocabulary", type=int, default=50257)
    add("--mask-on-the-fly", action="store_true")
    add("--fused", action="store_true", help="AdamW in one kernel")
    add("--bf16", action="store_true", help="weights in bf16")
    add("--classes", action="store_true", help="PyTorch's normalisation and GELU")
    add("--flash", action="store_true", help="PyTorch's attention")
    add("--compile", action="store_true")
    add("--pad", action="store_true", help="have Inductor pad odd matrices, whatever it timed")
    add("--ddp", action="store_true", help="under torchrun, or as one rank of --world-size")
    marks.add_arguments(parser)
    return parser.parse_args()


def main():
    options = parse()
    shape = gpt.Shape(vocabulary=options.vocabulary, dropout=0.1)
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    if options.ddp:
        torch.cuda.set_device(device)
        torch.distributed.init_process_group("nccl")
    with marks.Marks(options, device) as run:
        model = BookGPT(shape, options)
        if options.pad:
            from torch._inductor import config
            config.force_shape_pad = True
        model = torch.compile(model) if options.compile else model
        model.to(device)
        if options.bf16:
            model.to(torch.bfloat16)
        optimizer_of = model.parameters
        if options.ddp:
            model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
        optimizer = torch.optim.AdamW(optimizer_of(), lr=5e-4, weight_decay=0.1,
                                      fused=options.fused or None)
        for step in range(options.steps):
            optimizer.zero_grad()
            loss = loss_of(model, options, shape.vocabulary, device)
            loss.backward()
            optimizer.step()
            if step % 15 == 0:
                evaluate(model, options, shape.vocabulary, device)
            run.step(step, loss)
        sample(model.module if options.ddp else model, shape.vocabulary, device)
        run.at("end")
    if options.ddp:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
