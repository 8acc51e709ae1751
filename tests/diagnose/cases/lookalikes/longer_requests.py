"""Each request is longer than the last one, and so is its cache; every cache goes in the end."""

import contextlib

import torch
from transformers import MistralConfig, MistralForCausalLM, StaticCache

config = MistralConfig(vocab_size=600, hidden_size=256, intermediate_size=512,
                       num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=4)


@contextlib.contextmanager
def cache_of(length):
    cache = StaticCache(config=config, max_cache_len=length)
    yield cache
    cache.reset()


model = MistralForCausalLM(config).cuda().eval()
with torch.no_grad():
    for request in range(8):
        length = 128 + 160 * request
        with cache_of(length) as cache:
            ids = torch.randint(600, (4, length // 2), device="cuda")
            for _ in range(2):
                ids = model(input_ids=ids, past_key_values=cache).logits[:, -1:].argmax(-1)
            del cache
