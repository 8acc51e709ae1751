"""Evaluation that forgot torch.no_grad(): every activation waits for a backward pass.

The second half does it properly, for comparison.
"""

import torch
from gpt import GPT, batch

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(stacks="python")


def evaluate(model):
    total = torch.zeros((), device="cuda")
    for _ in range(4):
        tokens, targets = batch(16, 256)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            total += model(tokens, targets).detach()
    return total.item() / 4


model = GPT(layers=4).cuda().eval()
print("with grad", evaluate(model))
with torch.no_grad():
    print("without  ", evaluate(model))

torch.cuda.memory._dump_snapshot("snapshot.pickle")
