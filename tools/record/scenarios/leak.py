"""A planted leak: the loss is kept together with its graph, step after step.

`losses.append(loss)` instead of `losses.append(loss.item())`. Everything backward still
needs stays alive: freed by backward(), so the leak shows where a loss has no backward,
here in a validation pass that forgot torch.no_grad().
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

    tokens, targets = batch(4, 128)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, targets)
    losses.append(loss)  # the leak

torch.cuda.memory._dump_snapshot("snapshot.pickle")
