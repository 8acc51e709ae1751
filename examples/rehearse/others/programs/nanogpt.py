"""nanoGPT's train.py: GPT-2 with 124 million parameters, in bfloat16 autocast."""

import array

from program import Program

# Token embeddings, which the head shares; positions; twelve blocks of 12 d^2 weights and two
# norms without bias; the last norm.
PARAMETERS = 50304 * 768 + 1024 * 768 + 12 * (12 * 768 * 768 + 2 * 768) + 768
LOGITS = 8 * 1024 * 50304


def feed(folder):
    place = folder / "source" / "data" / "synthetic"
    place.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        tokens = array.array("H", (n * 7919 % 50257 for n in range(100_000)))
        (place / f"{name}.bin").write_bytes(tokens.tobytes())


PROGRAM = Program(
    name="nanogpt",
    what="train.py, GPT-2 124M",
    source=("https://github.com/karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291"),
    in_source=".",
    feed=feed,
    packages=["numpy==2.4.6", "tqdm==4.70.1"],
    gpu="rtx4090",
    command=["python", "train.py", "--dataset=synthetic", "--compile=False", "--max_iters=1",
             "--eval_iters=1", "--batch_size=8", "--gradient_accumulation_steps=1"],
    # Weights, gradients and two states of AdamW, and logits in 16 bits; at most all activations
    # of twelve blocks in 16 bits (34 per token and channel at most, attention is fused) and
    # logits in four copies of 32 bits.
    low=16 * PARAMETERS + 2 * LOGITS,
    high=16 * PARAMETERS + 12 * 8 * 1024 * 768 * 68 + 16 * LOGITS,
)
