"""Predictions of an evaluation are collected on the device until the end.

There is no history here, only the logits themselves, one more batch of them in every step.
"""

import torch

import small


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        predictions = []
        with torch.inference_mode():
            for step in range(arguments.steps):
                features, _ = small.batch()
                logits = model(features)
                if arguments.fixed:
                    predictions.append(logits.argmax(dim=1).cpu())
                else:
                    predictions.append(logits)
                run.moment(step, "end")
                run.step(step)


if __name__ == "__main__":
    main()
