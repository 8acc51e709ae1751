"""Features of each sample are cached by its number, on the device and without a limit."""

import collections

import torch

import small

KEPT = 4


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        cache = collections.OrderedDict()
        with torch.inference_mode():
            for step in range(arguments.steps):
                features, _ = small.batch()
                cache[step] = model.layers[0](features)
                if arguments.fixed and len(cache) > KEPT:
                    cache.popitem(last=False)
                model(features)
                run.moment(step, "end")
                run.step(step)


if __name__ == "__main__":
    main()
