"""A planted leak: validation losses are kept together with the graphs that made them.

`losses.append(loss)` where `losses.append(loss.item())` was meant. A training loss would
leak little, because backward() lets go of what it needed; here no backward() comes, and
every pass leaves its activations behind.
"""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")

model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
losses = []
for step in range(5):
    tokens, targets = batch(8, 128)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

    tokens, targets = batch(8, 128)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    losses.append(loss)  # the leak

torch.cuda.memory._dump_snapshot("snapshot.pickle")
