"""Train a vision transformer on random images.

    python train_vit.py --size B --batch 64 --autocast bf16
"""

import argparse

import torch
from torch.nn import functional

import marks
import techniques
from models import vit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=vit.SIZES, default="B")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--autocast", choices=("bf16",))
    parser.add_argument("--fused", action="store_true", help="AdamW in one kernel")
    marks.add_arguments(parser)
    arguments = parser.parse_args()
    shape = vit.SIZES[arguments.size]

    with marks.Marks(arguments) as run:
        with torch.device(run.device):
            model = vit.ViT(shape)
        run.model(model)
        optimizer = torch.optim.AdamW(model.parameters(), fused=arguments.fused or None)
        for step in range(arguments.steps):
            images = torch.randn(arguments.batch, 3, shape.image, shape.image).to(run.device)
            labels = torch.randint(shape.classes, (arguments.batch,)).to(run.device)
            with torch.autocast("cuda", techniques.DTYPES["bf16"],
                                enabled=arguments.autocast is not None):
                loss = functional.cross_entropy(model(images), labels)
            run.moment(step, "forward")
            loss.backward()
            run.moment(step, "backward")
            optimizer.step()
            run.moment(step, "step")
            optimizer.zero_grad()
            run.moment(step, "zeroed")
            run.step(step, loss)


if __name__ == "__main__":
    main()
