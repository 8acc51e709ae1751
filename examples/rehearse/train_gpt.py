"""Train a GPT-2 on random tokens.

    python train_gpt.py --size 124M --batch 8 --sequence 1024 --autocast bf16
    plimsoll rehearse --gpu h100 -- python train_gpt.py --batch 64 --checkpoint 1
"""

import argparse
import dataclasses

import marks
import techniques
from models import gpt


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=gpt.SIZES, default="124M")
    parser.add_argument("--layers", type=int, help="instead of those of the size")
    parser.add_argument("--width", type=int)
    parser.add_argument("--heads", type=int)
    parser.add_argument("--vocabulary", type=int)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--attention", choices=("sdpa", "explicit"), default="sdpa")
    techniques.add_arguments(parser)
    marks.add_arguments(parser)
    arguments = parser.parse_args()
    techniques.check(arguments, parser)
    return arguments


def shape_of(arguments):
    names = ("layers", "width", "heads", "vocabulary", "dropout", "attention")
    given = {name: getattr(arguments, name) for name in names
             if getattr(arguments, name) is not None}
    shape = gpt.SIZES[arguments.size]
    return dataclasses.replace(shape, context=max(shape.context, arguments.sequence), **given)


def main():
    arguments = parse()
    shape = shape_of(arguments)
    with marks.Marks(arguments) as run:
        run.fact("shape", dataclasses.asdict(shape))
        model = techniques.build(lambda: gpt.GPT(shape, arguments.checkpoint), arguments,
                                 run.device)
        techniques.train(model, shape.vocabulary, arguments, run)


if __name__ == "__main__":
    main()
