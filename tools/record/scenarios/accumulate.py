"""Gradient accumulation over two small batches, with activation checkpointing."""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT(checkpointing=True).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(2):
    for _ in range(2):
        tokens, targets = batch(4, 256)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens, targets) / 2
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
