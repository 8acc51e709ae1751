"""A language model's validation losses are kept with their graphs: the whole forward pass of each
step lives on, under dozens of stacks."""

import torch
import transformers

STEPS, BATCH, LENGTH = 7, 4, 32

config = transformers.BertConfig(vocab_size=1000, hidden_size=96, num_hidden_layers=3,
                                 num_attention_heads=4, intermediate_size=192)
model = transformers.BertForMaskedLM(config).cuda().eval()
losses = []
for _ in range(STEPS):
    tokens = torch.randint(1000, (BATCH, LENGTH)).cuda()
    losses.append(model(input_ids=tokens, labels=tokens).loss)
print(f"{torch.stack(losses).mean():.3f}")
