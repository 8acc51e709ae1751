# Buffers of a thread, in threading.local.
# keeper: buffers|LOCAL
import threading

import torch

LOCAL = threading.local()


def work():
    LOCAL.buffers = []
    for _ in range(3000):
        LOCAL.buffers.append(torch.zeros(1024, 1024, device="cuda"))  # blame


def main():
    failed = []

    def guarded():
        try:
            work()
        except torch.OutOfMemoryError as error:
            failed.append(str(error))
            raise

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    raise SystemExit(1 if failed else 0)


main()
