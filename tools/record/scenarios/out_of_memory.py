"""The batch doubles until memory runs out; the snapshot is taken at that very moment.

The observer runs before the exception unwinds the stack, so nothing has been freed yet
and the trace ends with the request that failed.
"""

import torch
from gpt import GPT, batch


def save(device, wanted, total, free):
    torch.cuda.memory._dump_snapshot("snapshot.pickle")


torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")
torch._C._cuda_attach_out_of_memory_observer(save)

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
size = 8
try:
    while True:
        tokens, targets = batch(size, 512)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        size *= 2
except torch.OutOfMemoryError as error:
    print(f"batch of {size}: {error}")
