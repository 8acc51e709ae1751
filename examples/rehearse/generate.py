"""Generate tokens with a Llama and a cache of keys and values.

    python generate.py --size 8B --dtype bf16 --batch 16 --prompt 1024 --tokens 128 --cache static
"""

import argparse
import contextlib
import dataclasses

import torch

import marks
import techniques
from models import llama


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=llama.SIZES, default="1B")
    parser.add_argument("--layers", type=int, help="instead of those of the size")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=32, help="to generate")
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="bf16")
    parser.add_argument("--cache", choices=("dynamic", "static", "none"), default="dynamic")
    parser.add_argument("--grad", choices=("inference", "no-grad", "on"), default="inference")
    marks.add_arguments(parser)
    parser.set_defaults(lora=0)
    return parser.parse_args()


def make_cache(arguments, shape):
    if arguments.cache == "dynamic":
        return llama.DynamicCache(shape.layers)
    if arguments.cache == "static":
        longest = arguments.prompt + arguments.tokens
        return llama.StaticCache(shape, arguments.batch, longest,
                                 techniques.DTYPES[arguments.dtype])
    return None


def generate(model, arguments, shape, run):
    tokens = torch.randint(shape.vocabulary, (arguments.batch, arguments.prompt)).to(run.device)
    with torch.device(run.device):
        cache = make_cache(arguments, shape)
    run.at("ready")
    context = tokens
    for step in range(arguments.tokens):
        logits = model(context, cache)[:, -1]
        chosen = logits.argmax(dim=-1, keepdim=True)
        del logits
        tokens = torch.cat((tokens, chosen), dim=1)
        context = tokens if cache is None else chosen
        run.moment(step, "generated")
        run.step(step)
    return tokens


def main():
    arguments = parse()
    shape = llama.SIZES[arguments.size]
    shape = dataclasses.replace(shape, layers=arguments.layers or shape.layers)
    mode = {"inference": torch.inference_mode, "no-grad": torch.no_grad,
            "on": contextlib.nullcontext}[arguments.grad]
    with marks.Marks(arguments) as run:
        run.fact("shape", dataclasses.asdict(shape))
        model = techniques.build(lambda: llama.Llama(shape), arguments, run.device)
        run.model(model)
        with mode():
            generate(model, arguments, shape, run)


if __name__ == "__main__":
    main()
