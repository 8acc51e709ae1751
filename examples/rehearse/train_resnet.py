"""Train a ResNet on random images.

    python train_resnet.py --depth 50 --batch 64 --autocast bf16 --channels-last
"""

import argparse

import torch
from torch.nn import functional

import marks
import techniques
from models import resnet


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, choices=resnet.LAYERS, default=50)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--image", type=int, default=224)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--autocast", choices=("bf16", "fp16"))
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--evaluate", action="store_true", help="inference instead of training")
    marks.add_arguments(parser)
    return parser.parse_args()


def autocast(arguments):
    dtype = techniques.DTYPES[arguments.autocast or "bf16"]
    return torch.autocast("cuda", dtype, enabled=arguments.autocast is not None)


def images_of(arguments, device):
    images = torch.randn(arguments.batch, 3, arguments.image, arguments.image).to(device)
    if arguments.channels_last:
        images = images.to(memory_format=torch.channels_last)
    return images, torch.randint(1000, (arguments.batch,)).to(device)


def evaluate(model, arguments, run):
    model.eval()
    with torch.inference_mode():
        for step in range(arguments.steps):
            images, _ = images_of(arguments, run.device)
            with autocast(arguments):
                answers = model(images)
            run.moment(step, "evaluated")
            run.step(step)
            del images, answers


def train(model, arguments, run):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scaler = techniques.make_scaler(arguments.autocast == "fp16")
    for step in range(arguments.steps):
        images, labels = images_of(arguments, run.device)
        with autocast(arguments):
            loss = functional.cross_entropy(model(images), labels)
        run.moment(step, "forward")
        scaler.scale(loss).backward()
        run.moment(step, "backward")
        scaler.step(optimizer)
        scaler.update()
        run.moment(step, "step")
        optimizer.zero_grad()
        run.moment(step, "zeroed")
        run.step(step, loss)


def main():
    arguments = parse()
    with marks.Marks(arguments) as run:
        with torch.device(run.device):
            model = resnet.ResNet(arguments.depth)
        if arguments.channels_last:
            model = model.to(memory_format=torch.channels_last)
        run.model(model)
        (evaluate if arguments.evaluate else train)(model, arguments, run)


if __name__ == "__main__":
    main()
