#!/usr/bin/env python3
"""A tokenizer of bytes: 256 tokens and a few special ones, in Hugging Face's format.

    make_tokenizer.py [--clip] FOLDER
"""

import json
import os
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())


def main():
    folder, is_clip = sys.argv[-1], "--clip" in sys.argv
    begin, end = ("<|startoftext|>", "<|endoftext|>") if is_clip else ("<|endoftext|>",) * 2
    # CLIP's tokenizer marks the end of a word, so it knows each byte twice.
    words = [*BYTES, *([byte + "</w>" for byte in BYTES] if is_clip else [])]
    vocabulary = {word: index for index, word in enumerate([*words, *dict.fromkeys((begin, end))])}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(vocabulary, file)
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n")
    config = {"bos_token": begin, "eos_token": end, "unk_token": end, "pad_token": end,
              "model_max_length": 77 if is_clip else 1024,
              "tokenizer_class": "CLIPTokenizer" if is_clip else "PreTrainedTokenizerFast"}
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    if not is_clip:
        tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.save(os.path.join(folder, "tokenizer.json"))


main()
