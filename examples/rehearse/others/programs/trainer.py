"""transformers' Trainer, through its example run_clm.py: GPT-2 from a configuration."""

from program import Program, write_text
from programs.hugging_face import PACKAGES

# GPT-2 as published, its head shared with the embeddings; 6 of 12 blocks.
PARAMETERS = 50257 * 768 + 1024 * 768 + 6 * (12 * 768 * 768 + 13 * 768) + 2 * 768


def feed(folder):
    write_text(folder / "data" / "train.txt", 4000)


PROGRAM = Program(
    name="trainer",
    what="transformers, examples/pytorch/language-modeling/run_clm.py, GPT-2",
    source=("https://github.com/huggingface/transformers", "v5.10.1"),
    in_source="examples/pytorch/language-modeling",
    feed=feed,
    makers=(["python", "SCRIPTS/make_tokenizer.py", "WORK/tokenizer"],),
    packages=[*PACKAGES, "evaluate==0.4.6"],
    command=["python", "run_clm.py", "--model_type=gpt2", "--tokenizer_name=WORK/tokenizer",
             "--config_overrides=n_layer=6", "--train_file=DATA/train.txt", "--do_train",
             "--max_steps=2", "--per_device_train_batch_size=4", "--block_size=512", "--bf16",
             "--report_to=none", "--save_strategy=no", "--output_dir=WORK/out"],
    low=16 * PARAMETERS,
    high=16 * PARAMETERS + 6 * 4 * 512 * 768 * 120 + 4 * 512 * 50257 * 20 + (256 << 20),
)
