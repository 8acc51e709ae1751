#!/usr/bin/env python3
"""transformers' Trainer: a small GPT-2, bfloat16, checkpoints, an evaluation, workers."""

import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

VOCABULARY, LENGTH = 512, 64


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        tokens = torch.arange(index, index + LENGTH) % VOCABULARY
        return {"input_ids": tokens, "labels": tokens}


def main():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=64,
                                       n_layer=2, n_head=2))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model=model, train_dataset=Tokens(), eval_dataset=Tokens(),
                          args=TrainingArguments(
                              output_dir=folder, max_steps=4, per_device_train_batch_size=2,
                              bf16=True, gradient_checkpointing=True, save_steps=2,
                              eval_strategy="steps", eval_steps=2, logging_steps=1,
                              report_to="none", dataloader_num_workers=2,
                              torch_compile="--compile" in sys.argv))
        trainer.train()
        trainer.save_model()
        print("steps", trainer.state.global_step, sorted(trainer.state.log_history[0]))
    print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
