"""The language model of a course, in elementary operations: one step after two to warm up.

    python basics_lm.py --context 512 --precision fp32

After the report on memory in EnzoDing-rgb/cs336-assignment2-systems. A Llama as in
models/llama.py, but with attention, softmax, normalisation, SiLU, the loss and AdamW written out
by hand, and multiplications as torch.einsum.
"""

import argparse
import dataclasses
import math
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402
from models import llama  # noqa: E402

SHAPE = llama.Shape(width=2560, layers=32, heads=32, groups=32, hidden=10240, vocabulary=10000)


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))

    def forward(self, x):
        return torch.einsum("bti,oi->bto", x, self.weight)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.to(torch.float32)
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return (self.weight * scaled).to(x.dtype)


def softmax(x):
    risen = torch.exp(x - torch.max(x, dim=-1, keepdim=True)[0])
    return risen / torch.sum(risen, dim=-1, keepdim=True)


def attend(q, k, v, mask):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(k.shape[-1])
    scores = torch.where(mask, scores, float("-inf"))
    return torch.einsum("bhqk,bhkd->bhqd", softmax(scores), v)


def cross_entropy(logits, targets):
    logits = logits - torch.max(logits, dim=-1, keepdim=True)[0]
    likely = -(logits - torch.log(torch.sum(torch.exp(logits), dim=-1, keepdim=True)))
    return torch.mean(torch.gather(likely, -1, targets.unsqueeze(-1)))


class Attention(nn.Module):
    def __init__(self, shape, rotary):
        super().__init__()
        self.heads, self.rotary = shape.heads, rotary
        self.q, self.k, self.v, self.o = (Linear(shape.width, shape.width) for _ in range(4))

    def turn(self, x):
        left, right = x.unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = self.rotary.table[:, :x.shape[-2], :].unbind(0)
        turned_left = cos * left - sin * right
        turned_right = sin * left + cos * right
        return torch.concat((turned_left, turned_right), dim=-1)

    def forward(self, x):
        time = x.shape[1]
        q, k, v = self.q(x), self.k(x), self.v(x)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (q, k, v))
        q = self.turn(q)
        k = self.turn(k)
        places = torch.arange(time, device=x.device)
        mask = (places[:, None] >= places[None, :])[None]
        y = attend(q, k, v, mask)
        y = y.transpose(1, 2).flatten(2).contiguous()
        return self.o(y)


class Rotary(nn.Module):
    def __init__(self, shape):
        super().__init__()
        table = torch.stack(llama.rotary_tables(shape, 10000.0))
        self.register_buffer("table", table, persistent=False)


class Mlp(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.gate = Linear(shape.width, shape.hidden)
        self.down = Linear(shape.hidden, shape.width)
        self.up = Linear(shape.width, shape.hidden)

    @staticmethod
    def silu(x):
        return x * torch.sigmoid(x)

    def forward(self, x):
        return self.down(self.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, shape, rotary):
        super().__init__()
        self.attention, self.mlp = Attention(shape, rotary), Mlp(shape)
        self.norm_attention, self.norm_mlp = Norm(shape.width), Norm(shape.width)

    def forward(self, x):
        attended = self.attention(self.norm_attention(x))
        between = x + attended
        added = self.mlp(self.norm_mlp(between))
        return between + added


class BasicsLM(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.tokens = nn.Parameter(torch.empty(shape.vocabulary, shape.width))
        rotary = Rotary(shape)
        self.blocks = nn.ModuleList(Block(shape, rotary) for _ in range(shape.layers))
        self.norm = Norm(shape.width)
        self.head = Linear(shape.width, shape.vocabulary)

    def forward(self, tokens):
        x = self.tokens[tokens, :]
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)


class AdamW(torch.optim.Optimizer):
    """One tensor after another, and every state anew."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 1e-3})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                grad, state = p.grad, self.state[p]
                p -= group["lr"] * 0.01 * p
                mean = state.get("mean", torch.zeros_like(grad))
                square = state.get("square", torch.zeros_like(grad))
                new_mean = 0.9 * mean + 0.1 * grad
                new_square = 0.999 * square + 0.001 * torch.square(grad)
                p -= 1e-3 * new_mean / (torch.sqrt(new_square) + 1e-8)
                state["mean"], state["square"] = new_mean, new_square


class Run:
    """The model, a batch that stays, and one step of the kind that is measured."""

    def __init__(self, options, run):
        self.options, self.marks = options, run
        shape = dataclasses.replace(SHAPE, context=options.context)
        with run.device:
            self.model = BasicsLM(shape)
            self.optimizer = AdamW(self.model.parameters())
            size = (4, options.context)
            self.tokens = torch.randint(shape.vocabulary, size)
            self.targets = torch.randint(shape.vocabulary, size)

    def autocast(self):
        return torch.autocast("cuda", torch.bfloat16, enabled=self.options.precision == "bf16")

    def forward(self):
        with self.autocast():
            return self.model(self.tokens)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.forward()
        with self.autocast():
            loss = cross_entropy(logits, self.targets)
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--forward-only", action="store_true")
    marks.add_arguments(parser)
    options = parser.parse_args()
    with marks.Marks(options) as run:
        work = Run(options, run)
        step = work.forward if options.forward_only else work.train
        step()
        step()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        step()


if __name__ == "__main__":
    main()
