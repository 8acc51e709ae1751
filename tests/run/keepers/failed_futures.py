# Futures keep their exceptions, these the frames of the failed work.
# keeper: futures
import concurrent.futures

import torch


def work(index):
    scores = torch.randn(1024, 1024, device="cuda")  # blame
    if index >= 0:
        raise ValueError(f"no answer for {index}: {scores.shape}")


def main():
    futures = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for index in range(3000):
            future = pool.submit(work, index)
            if isinstance(future.exception(), torch.OutOfMemoryError):
                raise future.exception()
            futures.append(future)


main()
