"""Train a small GPT for a few steps: AdamW, bf16 autocast, gradients set to None."""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(4):
    tokens, targets = batch(8, 256)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step}: loss {loss.item():.3f}")

torch.cuda.memory._dump_snapshot("snapshot.pickle")
