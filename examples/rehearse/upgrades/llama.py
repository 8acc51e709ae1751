"""Two steps of training a small Llama with a long window, on short sequences.

With transformers 4.38.0 its peak is three times that of 4.37.2 (huggingface/transformers#29484,
#30010): that release made an attention mask of the whole window for each sequence of the batch.
"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16,
    vocab_size=32000, max_position_embeddings=16384,
)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for step in range(2):
    tokens = torch.randint(0, 32000, (4, 1024), device="cuda")
    mask = torch.ones_like(tokens)
    model(input_ids=tokens, attention_mask=mask, labels=tokens).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
