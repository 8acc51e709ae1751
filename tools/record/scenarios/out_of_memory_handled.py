"""The same end, seen the usual way: caught, halved, tried again, recorded at the end."""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
size = 64
steps = 0
while steps < 2:
    try:
        tokens, targets = batch(size, 512)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        steps += 1
    except torch.OutOfMemoryError:
        size //= 2
    optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
