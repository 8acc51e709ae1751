"""Sentences come sorted by length: memory rises through each epoch, and starts low again."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

LENGTHS = [32, 64, 128, 192, 256]

config = LlamaConfig(vocab_size=600, hidden_size=192, intermediate_size=384,
                     num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2)
model = LlamaForCausalLM(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for epoch in range(3):
    for length in LENGTHS:
        ids = torch.randint(600, (8, length)).to("cuda")
        optimizer.zero_grad(set_to_none=True)
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
