"""Train a Hugging Face `transformers` model from its configuration, with random weights.

    pip install transformers
    python train_transformers.py --model bert --batch 8 --sequence 512

Nothing is downloaded.
"""

import argparse
import os
import sys

import torch

import marks
import techniques

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def transformers():
    try:
        import transformers as library
    except ImportError as error:
        sys.exit(f"this program needs the package `transformers` ({error}): "
                 "pip install transformers")
    return library


def bert(small):
    library = transformers()
    size = {"num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4,
            "intermediate_size": 1024} if small else {}
    return library.BertForMaskedLM, library.BertConfig(**size)


def gpt2(small):
    library = transformers()
    size = {"n_layer": 2, "n_embd": 256, "n_head": 4} if small else {}
    return library.GPT2LMHeadModel, library.GPT2Config(**size)


def llama(small):
    library = transformers()
    size = {"num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128256}
    if small:
        size = {"num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 8,
                "num_key_value_heads": 4, "intermediate_size": 688, "vocab_size": 32000}
    return library.LlamaForCausalLM, library.LlamaConfig(**size)


def t5(small):
    library = transformers()
    size = {"num_layers": 2, "d_model": 256, "num_heads": 4, "d_kv": 64, "d_ff": 1024} \
        if small else {}
    configuration = library.T5Config(**size)
    configuration.decoder_start_token_id = configuration.pad_token_id
    return library.T5ForConditionalGeneration, configuration


MODELS = {"bert": bert, "gpt2": gpt2, "llama": llama, "t5": t5}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="bert")
    parser.add_argument("--small", action="store_true", help="two narrow layers")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--autocast", choices=("bf16",))
    parser.add_argument("--checkpoint", action="store_true")
    marks.add_arguments(parser)
    arguments = parser.parse_args()

    kind, configuration = MODELS[arguments.model](arguments.small)
    configuration.use_cache = False
    with marks.Marks(arguments) as run:
        with torch.device(run.device):
            model = kind(configuration)
        model.train()
        if arguments.checkpoint:
            model.gradient_checkpointing_enable()
        run.model(model)
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(arguments.steps):
            tokens = torch.randint(configuration.vocab_size,
                                   (arguments.batch, arguments.sequence)).to(run.device)
            with torch.autocast("cuda", techniques.DTYPES["bf16"],
                                enabled=arguments.autocast is not None):
                loss = model(input_ids=tokens, labels=tokens).loss
            run.moment(step, "forward")
            loss.backward()
            run.moment(step, "backward")
            optimizer.step()
            run.moment(step, "step")
            optimizer.zero_grad()
            run.moment(step, "zeroed")
            run.step(step, loss)


if __name__ == "__main__":
    main()
