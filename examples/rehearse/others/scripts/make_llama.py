#!/usr/bin/env python3
"""A small Llama of random weights on disk: make_llama.py FOLDER."""

import sys

from transformers import LlamaConfig, LlamaForCausalLM

LlamaForCausalLM(LlamaConfig(
    hidden_size=512, intermediate_size=2048, num_hidden_layers=4, num_attention_heads=8,
    num_key_value_heads=8, vocab_size=1024, max_position_embeddings=1024,
    bos_token_id=256, eos_token_id=256, pad_token_id=256)).save_pretrained(sys.argv[1])
