"""Every step another sequence length: free blocks hardly ever fit the next request."""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT(width=384, heads=6, context=1024).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for time in (128, 333, 512, 771, 460, 999, 257):
    tokens, targets = batch(8, time)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

torch.cuda.memory._dump_snapshot("snapshot.pickle")
