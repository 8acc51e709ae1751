#!/usr/bin/env python3
"""test_by_hand.py PLIMSOLL - techniques that no program of examples/rehearse has a switch for.

Programs are rehearsed under them and print bytes, which were worked out here from their shapes.
optimizer=8bit and offload=optimizer: test_optimizers.py.
"""
import os
import re
import sys
import tempfile
import unittest

import rehearsals

MIB = 1 << 20
SAY = """
import torch
from torch import nn
from torch.nn import functional
def say(name, count):
    print("bytes", name, int(count), flush=True)
"""

# batch=64, offload=layer_inputs and inference_mode, of one program.
WIDTH, BLOCKS, ROWS = 512, 6, 64
HIDDEN = 4 * WIDTH * ROWS  # bytes of what goes from block to block
BODY = SAY + f"""
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear({WIDTH}, {4 * WIDTH}), nn.Linear({4 * WIDTH}, {WIDTH})
    def forward(self, x):
        return x + self.down(functional.gelu(self.up(x)))
model = nn.Sequential(*(Block() for _ in range({BLOCKS}))).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = torch.utils.data.TensorDataset(torch.randn(1024, {WIDTH}))
for step, (x,) in zip(range(2), torch.utils.data.DataLoader(data, 256, shuffle=True)):
    x = x.cuda()
    before = torch.cuda.memory_allocated()
    out = model(x)
    if step > 0:
        say("input", 4 * x.numel())
        say("forward", torch.cuda.memory_allocated() - before)
    out.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    del out
model.eval()
before = torch.cuda.memory_allocated()
out = model(x)
say("evaluation", torch.cuda.memory_allocated() - before)
"""

# weights=bf16, attention=flash, empty_cache and a setting of the allocator, of another.
SIDE, HEADS, TOKENS, HEAD = 4096, 8, 1024, 64
WEIGHT = 2 * SIDE * SIDE  # bytes, in bfloat16
QUERIES = 2 * 2 * HEADS * TOKENS * HEAD  # a batch of two
WIDE = SAY + f"""
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
    def forward(self, x):
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
            return functional.scaled_dot_product_attention(x, x, x)
before = torch.cuda.memory_allocated()
some = torch.empty(33 << 20, dtype=torch.uint8, device="cuda")
say("setting", torch.cuda.memory_allocated() - before)
del some
torch.cuda.empty_cache()
model = nn.Sequential(nn.Linear({SIDE}, {SIDE}, bias=False), nn.ReLU(),
                      nn.Linear({SIDE}, {SIDE}, bias=False)).to("cuda")
say("weights", torch.cuda.memory_allocated())
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(2048, {SIDE}, device="cuda")
model(x).square().mean().backward()
optimizer.step()
say("cached", torch.cuda.memory_reserved() - torch.cuda.memory_allocated())
x = torch.randn(2, {HEADS}, {TOKENS}, {HEAD}, dtype=torch.bfloat16, device="cuda",
                requires_grad=True)
attention = Attention().cuda()
before = torch.cuda.memory_allocated()
out = attention(x)
say("attention", torch.cuda.memory_allocated() - before)
"""

# kv: after each token a cache's bytes are 2 (keys, values) · layers · heads · head · tokens · rows · 4.
LAYERS, KV_HEADS, KV_HEAD, PROMPT, NEW, KV_ROWS, WINDOW = 3, 4, 16, 20, 30, 2, 8
TOKEN = 2 * LAYERS * KV_HEADS * KV_HEAD * KV_ROWS * 4
GENERATION = SAY + f"""
from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig(
    num_hidden_layers={LAYERS}, hidden_size=128, num_attention_heads=8, head_dim={KV_HEAD},
    num_key_value_heads={KV_HEADS}, intermediate_size=256, vocab_size=1000)).cuda().eval()
tokens = torch.randint(1000, ({KV_ROWS}, {PROMPT})).cuda()
model.register_forward_hook(lambda _, given, out: say("cache", sum(
    one.numel() * one.element_size() for layer in out.past_key_values.layers
    for one in (layer.keys, layer.values))))
model.generate(tokens, max_new_tokens={NEW}, do_sample=False, pad_token_id=0)
"""


class ByHand(unittest.TestCase):
    plimsoll = None

    def rehearse(self, source, *techniques):
        """{name: bytes}, as said last."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            found = rehearsals.Rehearsed(self.plimsoll, path, techniques)
        if "No module named 'transformers'" in found.output + found.errors:
            self.skipTest("the Python has no transformers")
        said = {name: int(count) for name, count in
                re.findall(r"^bytes (\w+) (\d+)$", found.output, re.MULTILINE)}
        self.assertTrue(said, found.errors + found.output)
        return said

    def near(self, count, expected):
        self.assertLessEqual(abs(count - expected), 0.01 * expected, (count, expected))

    def test_batch_and_inputs_on_the_host_and_evaluation(self):
        said = self.rehearse(BODY, f"batch={ROWS}", "offload=layer_inputs", "inference_mode")
        self.assertEqual(said["input"], HIDDEN)
        # Of all blocks: the output of the last, and its input, whose copy is under way.
        self.assertEqual(said["forward"], 2 * HIDDEN)
        self.assertEqual(said["evaluation"], HIDDEN)  # the output, and nothing for a backward pass

    def test_weights_attention_cache_and_settings(self):
        said = self.rehearse(WIDE, "weights=bf16", "attention=flash", "empty_cache",
                                "conf=roundup_power2_divisions:2")
        self.assertEqual(said["setting"], 48 * MIB)  # 33 MiB: of 32, 48 and 64 the next
        self.assertEqual(said["weights"], 2 * WEIGHT)
        # All that is left is tensors of whole segments, and one segment of 2 MiB for small ones.
        self.assertLessEqual(said["cached"], 2 * MIB)
        # The output and a sum of exponentials for each query: scores would be 32 times as much.
        self.near(said["attention"], QUERIES + 4 * 2 * HEADS * TOKENS)

    def test_caches_of_keys_and_values(self):
        """Keys of the last token are never needed; a window holds N - 1 tokens beside the next."""
        said = self.rehearse(GENERATION, "kv=static")
        self.assertEqual(said["cache"], TOKEN * (PROMPT + NEW - 1))
        said = self.rehearse(GENERATION, f"kv=window:{WINDOW}")
        self.assertEqual(said["cache"], TOKEN * (WINDOW - 1))


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    if rehearsals.IS_SHORT:
        print("skipped: PLIM_TORCH_SHORT asks for little")
        sys.exit(rehearsals.SKIPPED)
    ByHand.plimsoll = os.path.abspath(sys.argv.pop(1))
    unittest.main()
