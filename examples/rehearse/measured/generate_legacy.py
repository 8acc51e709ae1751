"""Generate with a cache as transformers had it in 2023: a tuple that each pass makes anew.

    python generate_legacy.py --prompt 256 --tokens 512

After huggingface/optimum-benchmark, examples/running-llamas: Llama 2 with 7 billion parameters in
fp16. The old cache is held until the pass is over, so at its end there are two; every block has
tables of rotary positions of its own, of whole heads and in fp16.
"""

import argparse
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import marks  # noqa: E402
from models import llama  # noqa: E402

SHAPE = llama.Shape(width=4096, layers=32, heads=32, groups=32, hidden=11008, vocabulary=32000,
                    context=4096)


class TupleCache(llama.DynamicCache):
    """Of one pass: what was before stays as it is."""

    def __init__(self, before=None):
        super().__init__(SHAPE.layers)
        self.before = before
        if before is not None:
            self.kept, self.length = list(before.kept), before.length


def rotary_tables_of_blocks(model, device):
    cos, sin = (torch.cat((table, table), dim=-1) for table in llama.rotary_tables(SHAPE))
    for block in model.blocks:
        block.register_buffer("cos", cos.to(device).half())
        block.register_buffer("sin", sin.to(device).half())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompt", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--batch", type=int, default=1)
    marks.add_arguments(parser)
    options = parser.parse_args()
    with marks.Marks(options) as run, torch.no_grad():
        torch.set_default_dtype(torch.float16)
        with run.device:
            model = llama.Llama(SHAPE)
        torch.set_default_dtype(torch.float32)
        model.cos, model.sin = model.cos.float(), model.sin.float()
        rotary_tables_of_blocks(model, run.device)
        run.model(model)
        tokens = torch.randint(SHAPE.vocabulary, (options.batch, options.prompt)).to(run.device)
        given, cache = tokens, None
        for _ in range(options.tokens):
            before, cache = cache, TupleCache(cache)
            logits = model(given, cache).float()
            given = logits[:, -1].argmax(dim=-1, keepdim=True)
            tokens = torch.cat((tokens, given), dim=1)
            cache.before = before = None


if __name__ == "__main__":
    main()
