"""Batches of ever other lengths, and a small result of each kept: memory falls into pieces.

What is freed lies between what is kept, so that no piece is large enough for a longer batch, and
new segments are taken although much is free. With --fixed batches are padded to one length and
results leave the device.
"""

import torch

import small

LENGTHS = (700, 1900, 1100, 2600, 1500, 3400, 2100, 4200, 2900, 5000, 3700, 5900)


def main():
    arguments = small.parse(__doc__, steps=48)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        results = []
        with torch.inference_mode():
            for step in range(arguments.steps):
                rows = LENGTHS[step % len(LENGTHS)] + 16 * step
                features = torch.randn(rows, small.FEATURES).cuda()
                if arguments.fixed:
                    features = torch.nn.functional.pad(
                        features, (0, 0, 0, max(LENGTHS) + 16 * arguments.steps - rows))
                logits = model(features)
                result = logits[:rows, :512].clone()
                results.append(result.cpu() if arguments.fixed else result)
                del logits, features, result
                run.moment(step, "end")
                run.step(step)


if __name__ == "__main__":
    main()
