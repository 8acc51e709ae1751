"""A history too short for the run: the ring wraps, and the beginning is lost.

Blocks that are live at the end were allocated before the first event that is left.
"""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python", max_entries=1000)

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(4):
    tokens, targets = batch(8, 256)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
