"""Fine-tune torchvision's ViT-L/16 for ten classes, with less memory from switch to switch.

    pip install torchvision
    python torchvision_vit.py --batch 64
    python torchvision_vit.py --batch 4 --precision bf16-true --accumulate 4 --optimizer sgd

After rasbt/pytorch-memory-optim, 01 to 07. Lightning's Fabric, which does the precisions there, is
not needed for them: `16-mixed` is autocast and a gradient scaler, `bf16-true` weights and images
in bf16.
"""

import argparse
import pathlib
import sys

import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402
import techniques  # noqa: E402


def vit_l_16():
    try:
        from torchvision.models import vit_l_16 as make
    except ImportError as error:
        sys.exit(f"this program needs the package `torchvision` ({error}): "
                 "pip install torchvision")
    model = make()
    model.heads.head = torch.nn.Linear(1024, 10)
    return model


def forward(model, images, options):
    with torch.autocast("cuda", torch.float16, enabled=options.precision == "16-mixed"):
        logits = model(images)
    return logits.float() if options.precision == "16-mixed" else logits


def batch_of(options, device):
    images = torch.randn(options.batch, 3, 224, 224).to(device)
    if options.precision == "bf16-true":
        images = images.to(torch.bfloat16)
    return images, torch.randint(10, (options.batch,)).to(device)


def train(model, options, run):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01) if options.optimizer == "sgd" \
        else torch.optim.Adam(model.parameters(), lr=5e-5)
    scaler = techniques.make_scaler(options.precision == "16-mixed")
    for step in range(options.steps):
        images, classes = batch_of(options, run.device)
        logits = forward(model, images, options)
        loss = functional.cross_entropy(logits, classes) / options.accumulate
        if options.accumulate == 1:
            optimizer.zero_grad()
        scaler.scale(loss).backward()
        if step % options.accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            if options.accumulate > 1:
                optimizer.zero_grad()
        run.step(step, loss)
        with torch.no_grad():
            torch.argmax(logits, 1)


def validate(model, options, run):
    model.eval()
    with torch.no_grad():
        for _ in range(2):
            images, _ = batch_of(options, run.device)
            answers = forward(model, images, options)
            torch.argmax(answers, 1)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--batch", type=int, default=64)
    add("--steps", type=int, default=3)
    add("--precision", choices=("32", "16-mixed", "bf16-true", "16-true"), default="32")
    add("--optimizer", choices=("adam", "sgd"), default="adam")
    add("--accumulate", type=int, default=1)
    add("--only-build", choices=("converted", "in-place"),
        help="converted: fp32 on the device, then fp16; in-place: made there in fp16")
    marks.add_arguments(parser)
    return parser.parse_args()


def main():
    options = parse()
    with marks.Marks(options) as run:
        if options.only_build == "in-place":
            torch.set_default_dtype(torch.float16)
            with run.device:
                run.model(vit_l_16())
            return
        model = vit_l_16().to(run.device)
        if options.only_build:
            model.to(torch.float16)
        elif options.precision == "bf16-true":
            model.to(torch.bfloat16)
        run.model(model)
        if not options.only_build:
            train(model, options, run)
            validate(model, options, run)


if __name__ == "__main__":
    main()
