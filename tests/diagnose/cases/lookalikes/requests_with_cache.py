"""Generation: keys and values grow token by token, and go when their request is answered."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

REQUESTS = [(48, 9), (96, 6), (16, 12), (64, 8), (32, 10)]


def tokens(model, prompt, budget):
    """Yield one token after another; the cache lives as long as this generator."""
    ids, past = prompt, None
    for _ in range(budget):
        answer = model(input_ids=ids, past_key_values=past, use_cache=True)
        past = answer.past_key_values
        ids = answer.logits[:, -1:].argmax(-1)
        yield ids


def serve(model):
    for length, budget in REQUESTS:
        prompt = torch.randint(5000, (16, length), device="cuda")
        yield torch.cat([word.cpu() for word in tokens(model, prompt, budget)], dim=1)


config = GPT2Config(vocab_size=5000, n_positions=128, n_embd=512, n_layer=1, n_head=4)
model = GPT2LMHeadModel(config).cuda().eval()
with torch.inference_mode():
    for number, text in enumerate(serve(model)):
        print(number, tuple(text.shape))
