"""A server keeps keys and values of every prompt it saw, and forgets none of them."""

import hashlib

import torch
import transformers

REQUESTS, PROMPT, ANSWER = 10, 64, 2


class Server:
    def __init__(self):
        config = transformers.LlamaConfig(
            vocab_size=2000, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512)
        self.model = transformers.LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
        self.prefixes = {}

    @torch.inference_mode()
    def answer(self, prompt):
        name = hashlib.sha1(repr(prompt).encode()).hexdigest()
        tokens = torch.tensor([prompt], device="cuda")
        answer = []
        done = self.model(tokens, use_cache=True)
        self.prefixes[name] = done.past_key_values
        for _ in range(ANSWER):
            token = done.logits[:, -1:].argmax(-1)
            answer.append(token.item())
            done = self.model(token, past_key_values=done.past_key_values, use_cache=True)
        return answer


server = Server()
for request in range(REQUESTS):
    server.answer([(request * 31 + place * 7) % 2000 for place in range(PROMPT)])
