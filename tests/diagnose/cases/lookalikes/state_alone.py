"""Only the state at the end is recorded: a model, its gradients and states, and no history."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

config = T5Config(vocab_size=2000, d_model=256, d_kv=32, d_ff=512, num_layers=2, num_heads=8,
                  decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
torch.cuda.memory._record_memory_history(enabled="state", stacks="python", clear_history=True)
for _ in range(4):
    words = torch.randint(2000, (8, 64), device="cuda")
    optimizer.zero_grad()
    model(input_ids=words, labels=words).loss.backward()
    optimizer.step()
