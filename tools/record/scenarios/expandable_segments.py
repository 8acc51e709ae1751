"""Growing sequences with expandable segments, then a cache that is given back.

PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True comes from the environment.
"""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for time in (64, 160, 320, 512, 96):
    tokens, targets = batch(16, time)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if time == 512:
        torch.cuda.empty_cache()

torch.cuda.memory._dump_snapshot("snapshot.pickle")
