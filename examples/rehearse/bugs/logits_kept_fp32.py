"""A metric wants the logits of the whole validation set at once, in single precision.

The model computes in bf16; every batch of logits is widened, kept, and at the end concatenated,
which takes the same memory once more.
"""

import torch

import small


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron().bfloat16()
        run.model(model)
        kept = []
        right = torch.zeros((), device="cuda")
        with torch.inference_mode():
            for step in range(arguments.steps):
                features, classes = small.batch()
                logits = model(features.bfloat16())
                if arguments.fixed:
                    right += (logits.argmax(dim=1) == classes).sum()
                else:
                    kept.append((logits.float(), classes))
                del logits
                run.moment(step, "end")
                run.step(step)
            if kept:
                logits = torch.cat([logits for logits, _ in kept])
                classes = torch.cat([classes for _, classes in kept])
                right += (logits.argmax(dim=1) == classes).sum()
        run.at("measured")


if __name__ == "__main__":
    main()
