# A child by spawn runs out of memory; its parent uses no CUDA.
# keeper: kept
import multiprocessing

import torch


def child(count):
    kept = []
    for _ in range(count):
        kept.append(torch.ones(1024, 1024, device="cuda"))  # blame


if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=child, args=(3000,))
    process.start()
    process.join()
    raise SystemExit(process.exitcode)
