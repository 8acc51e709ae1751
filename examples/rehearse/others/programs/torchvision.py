"""torchvision's reference: references/classification/train.py with ResNet-50."""

from program import Program, write_images

PARAMETERS = 25_557_032 - (1000 - 10) * 2049  # as its documentation says, with 10 classes


def feed(folder):
    for part, images in (("train", 4), ("val", 1)):
        write_images(folder / "data" / part, 10, images)


PROGRAM = Program(
    name="torchvision",
    what="references/classification/train.py, ResNet-50",
    source=("https://github.com/pytorch/vision", "v0.26.0"),
    in_source="references/classification",
    feed=feed,
    packages=["torchvision==0.26.0", "pillow==13.0.0", "numpy==2.4.6"],
    gpu="a100-80gb",
    command=["python", "train.py", "--data-path=DATA", "--model=resnet50", "--batch-size=20",
             "--workers=0", "--epochs=1", "--amp", "--output-dir=WORK/out"],
    # Weights, gradients, momentum; activations of ResNet-50 are 11.1 million values per image at
    # least (the outputs of its convolutions), in 16 bits, and norms keep as many again.
    low=12 * PARAMETERS + 20 * 11_100_000 * 2,
    high=12 * PARAMETERS + 20 * 11_100_000 * 16 + (2 << 30),
)
