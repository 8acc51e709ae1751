"""Train a Llama on random tokens.

    python train_llama.py --size 1B --batch 1 --sequence 2048 --dtype bf16 --optimizer sgd
    plimsoll rehearse --capacity 1000GiB -- \\
        python train_llama.py --size 70B --batch 1 --dtype bf16 --optimizer none --steps 1
"""

import argparse
import dataclasses

import marks
import techniques
from models import llama


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=llama.SIZES, default="1B")
    parser.add_argument("--layers", type=int, help="instead of those of the size")
    techniques.add_arguments(parser)
    marks.add_arguments(parser)
    arguments = parser.parse_args()
    techniques.check(arguments, parser)

    shape = llama.SIZES[arguments.size]
    shape = dataclasses.replace(shape, layers=arguments.layers or shape.layers,
                                context=max(shape.context, arguments.sequence))
    with marks.Marks(arguments) as run:
        run.fact("shape", dataclasses.asdict(shape))
        model = techniques.build(lambda: llama.Llama(shape, arguments.checkpoint), arguments,
                                 run.device)
        techniques.train(model, shape.vocabulary, arguments, run)


if __name__ == "__main__":
    main()
