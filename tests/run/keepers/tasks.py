# Coroutines that wait hold what they have computed.
# keeper: tasks|gate
import asyncio

import torch


async def serve(gate):
    hidden = torch.randn(1024, 1024, device="cuda")  # blame
    await gate.wait()
    return hidden.sum()


async def main():
    gate = asyncio.Event()
    tasks = []
    for _ in range(3000):
        tasks.append(asyncio.create_task(serve(gate)))
        await asyncio.sleep(0)
        if tasks[-1].done():
            tasks[-1].result()


asyncio.run(main())
