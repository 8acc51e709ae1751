"""TRL's SFTTrainer on a small Llama, with tokens in the place of text."""

import tempfile

import datasets
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from tokenizers import Tokenizer, models
from trl import SFTConfig, SFTTrainer

VOCABULARY, LENGTH, ROWS = 2048, 256, 8


def main():
    torch.manual_seed(0)
    words = {f"w{index}": index for index in range(VOCABULARY)}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(
        models.WordLevel(words, unk_token="w0")), eos_token="w1", pad_token="w2")
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=256, intermediate_size=768, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, bos_token_id=1, eos_token_id=1,
        pad_token_id=2))
    rows = datasets.Dataset.from_list([
        {"input_ids": [(row + n) % VOCABULARY for n in range(LENGTH)]} for row in range(64)])
    with tempfile.TemporaryDirectory() as folder:
        trainer = SFTTrainer(model=model, processing_class=tokenizer, train_dataset=rows,
                             args=SFTConfig(output_dir=folder, max_steps=2, report_to="none",
                                            per_device_train_batch_size=ROWS, save_strategy="no",
                                            max_length=LENGTH, bf16=False, logging_steps=1))
        trainer.train()
        print([line["loss"] for line in trainer.state.log_history if "loss" in line])


if __name__ == "__main__":
    main()
