"""The loader's workers put batches on the device, and its queue is as long as the epoch.

A batch costs device memory from the moment it is loaded, not from when the model wants it.
"""

import queue
import threading

import torch
from torch.nn import functional

import small

AHEAD = 2


def load(count, ready, on_device):
    for _ in range(count):
        features = torch.randn(4 * small.BATCH, small.FEATURES)
        classes = torch.randint(small.CLASSES, (4 * small.BATCH,))
        ready.put((features.cuda(), classes.cuda()) if on_device else (features, classes))


def main():
    arguments = small.parse(__doc__)
    with small.run(arguments) as run:
        model = small.perceptron()
        run.model(model)
        ready = queue.Queue(AHEAD if arguments.fixed else 0)
        worker = threading.Thread(target=load,
                                  args=(arguments.steps, ready, not arguments.fixed))
        worker.start()
        if not arguments.fixed:
            worker.join()  # the model is the slower one: by now everything is loaded
        run.at("loaded")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(arguments.steps):
            features, classes = (tensor.cuda() for tensor in ready.get())
            loss = functional.cross_entropy(model(features), classes)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            run.moment(step, "end")
            run.step(step, loss)
        worker.join()


if __name__ == "__main__":
    main()
