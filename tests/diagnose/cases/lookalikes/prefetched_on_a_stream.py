"""A thread uploads batches on a stream of its own, at most four ahead of the training."""

import queue
import threading

import torch
from torch import nn


class Uploads:
    def __init__(self, batches, ahead=4):
        self.stream = torch.cuda.Stream()
        self.ready = queue.Queue(maxsize=ahead)
        threading.Thread(target=self.fill, args=(batches,), daemon=True).start()

    def fill(self, batches):
        for _ in range(batches):
            host = torch.empty(48, 3, 96, 96)
            with torch.cuda.stream(self.stream):
                self.ready.put(host.cuda(non_blocking=True))
        self.ready.put(None)

    def __iter__(self):
        while (batch := self.ready.get()) is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch.record_stream(torch.cuda.current_stream())
            yield batch


def main():
    coder = nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.PReLU(), nn.Conv2d(32, 64, 4, 4), nn.PReLU(),
                          nn.ConvTranspose2d(64, 32, 4, 4), nn.PReLU(),
                          nn.ConvTranspose2d(32, 3, 4, 4)).cuda()
    optimizer = torch.optim.RMSprop(coder.parameters(), foreach=True)
    for batch in Uploads(26):
        nn.functional.l1_loss(coder(batch), batch).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
