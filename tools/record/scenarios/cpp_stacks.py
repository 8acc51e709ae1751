"""One training step whose stacks also hold the C++ frames (stacks="all")."""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="all")

model = GPT(layers=1).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
tokens, targets = batch(4, 64)
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(tokens, targets)
loss.backward()
optimizer.step()
optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
