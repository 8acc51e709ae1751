# A thread that fetches ahead of a slow consumer, without a limit.
# keeper: buffer
import collections
import threading

import torch


class Prefetcher:
    def __init__(self, count):
        self.buffer = collections.deque()
        self.is_done = threading.Event()
        self.thread = threading.Thread(target=self.fetch, args=(count,), daemon=True)
        self.thread.start()

    def fetch(self, count):
        try:
            for _ in range(count):
                self.buffer.append(torch.randn(1024, 1024).to("cuda"))  # blame
        except torch.OutOfMemoryError:
            pass
        self.is_done.set()


def main():
    torch.cuda.init()
    prefetcher = Prefetcher(200)
    prefetcher.is_done.wait()
    while prefetcher.buffer:
        torch.empty(4096, 4096, device="cuda").copy_(torch.randn(4096, 4096))
        prefetcher.buffer.popleft()


main()
