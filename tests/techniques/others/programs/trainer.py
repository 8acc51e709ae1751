"""transformers' Trainer on a model of one kind: trainer.py MODEL [OPTION...]

    gpt2 llama bert t5 vit    two small layers, weights and data made up
    bf16 checkpoint accumulate clip-off eager eval    Trainer's own switches, on
"""

import sys
import tempfile

import torch
import transformers
from transformers import Trainer, TrainingArguments

VOCABULARY, LENGTH, LAYERS, WIDTH, HEADS, ROWS = 2048, 256, 4, 256, 4, 8


def gpt2():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS))


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=2))


def bert():
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=4 * WIDTH,
        num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_labels=3))


def t5():
    return transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=VOCABULARY, d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=4 * WIDTH,
        num_layers=LAYERS, num_heads=HEADS, decoder_start_token_id=0))


def vit():
    return transformers.ViTForImageClassification(transformers.ViTConfig(
        image_size=112, patch_size=8, hidden_size=WIDTH, intermediate_size=4 * WIDTH,
        num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_labels=3))


class Rows(torch.utils.data.Dataset):
    """Of what a model takes: tokens with a target each or one class, or pictures with a class."""

    def __init__(self, kind):
        self._kind = kind

    def __len__(self):
        return 8 * ROWS

    def __getitem__(self, index):
        if self._kind == "vit":
            return {"pixel_values": torch.full((3, 112, 112), index / 64), "labels": index % 3}
        tokens = torch.arange(index, index + LENGTH) % VOCABULARY
        if self._kind == "bert":
            return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens),
                    "labels": index % 3}
        return {"input_ids": tokens, "labels": tokens}


def main():
    kind, options = sys.argv[1], sys.argv[2:]
    model = globals()[kind]()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model=model, train_dataset=Rows(kind), eval_dataset=Rows(kind),
                          args=TrainingArguments(
                              output_dir=folder, max_steps=2, per_device_train_batch_size=ROWS,
                              bf16="bf16" in options,
                              gradient_checkpointing="checkpoint" in options,
                              gradient_accumulation_steps=2 if "accumulate" in options else 1,
                              eval_strategy="steps" if "eval" in options else "no", eval_steps=2,
                              logging_steps=1, save_strategy="no", report_to="none"))
        trainer.train()
        for line in trainer.state.log_history:
            print({name: line[name] for name in ("loss", "eval_loss") if name in line})


if __name__ == "__main__":
    main()
