"""Train a diffusion U-Net on random images, with an average of its weights kept beside it.

    python train_unet.py --channels 128 --image 64 --batch 16 --average
"""

import argparse
import copy

import torch
from torch.nn import functional

import marks
import techniques
from models import unet


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--channels", type=int, default=128)
    parser.add_argument("--image", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--autocast", choices=("bf16",))
    parser.add_argument("--average", action="store_true",
                        help="keep an exponential moving average of the weights")
    marks.add_arguments(parser)
    arguments = parser.parse_args()

    with marks.Marks(arguments) as run:
        with torch.device(run.device):
            model = unet.UNet(arguments.channels)
        run.model(model)
        average = copy.deepcopy(model).requires_grad_(False) if arguments.average else None
        run.at("copied")
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(arguments.steps):
            size = (arguments.batch, 3, arguments.image, arguments.image)
            images = torch.randn(size).to(run.device)
            noise = torch.randn_like(images)
            times = torch.randint(1000, (arguments.batch,)).to(run.device)
            with torch.autocast("cuda", techniques.DTYPES["bf16"],
                                enabled=arguments.autocast is not None):
                loss = functional.mse_loss(model(images + noise, times).float(), noise)
            run.moment(step, "forward")
            loss.backward()
            run.moment(step, "backward")
            optimizer.step()
            run.moment(step, "step")
            optimizer.zero_grad()
            if average is not None:
                with torch.no_grad():
                    for slow, fast in zip(average.parameters(), model.parameters()):
                        slow.lerp_(fast, 0.01)
            run.moment(step, "zeroed")
            run.step(step, loss)


if __name__ == "__main__":
    main()
