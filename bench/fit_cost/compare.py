#!/usr/bin/env python3
"""compare.py COST_TOOL HOME [ROW…] - the model of fit's times beside what was measured in public.

    PLIM_TORCH_PYTHON=… python3 bench/fit_cost/compare.py build/release/tests/cost_tool \\
        build/release/rehearse

Each row is a program without and with a technique, rehearsed on the GPU of the measurement. Prints
the ratio of the times of a step, with to without; docs/design/fit-cost.md has a run of it.
"""
import functools
import json
import os
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rehearse"
TF32 = ("import runpy, sys, torch; torch.set_float32_matmul_precision('high'); sys.argv.pop(0); "
        "sys.path.insert(0, sys.argv[0].rpartition('/')[0]); "
        "runpy.run_path(sys.argv[0], run_name='__main__')")
GPT8 = "train_gpt.py --batch 8"
GPT8_BF16 = GPT8 + " --autocast bf16"
GPT4_BF16 = "train_gpt.py --batch 4 --autocast bf16"
LLAMA = "train_llama.py --size 3B --batch 1 --sequence 2048 --dtype bf16"

# Name, GPU, program without, program with, measured ratios of time, source. "tf32 " before a
# program allows TF32. Of two GPUs the first is rehearsed, and the second has the times: PyTorch 2.11 has
# no kernels for a V100.
ROWS = (
    ("checkpoint, GPT-2", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --checkpoint 1", "1.13 to 1.30",
     "124M on a CPU +13 %; HF guide -23 % of a BERT-large's speed"),
    ("checkpoint, Llama 3B", "a100-80gb", LLAMA, LLAMA + " --checkpoint 1", "1.27",
     "torchtune -21 % tokens/s"),
    ("checkpoint, Llama 3B", "h100", LLAMA, LLAMA + " --checkpoint 1", "1.25",
     "torchtitan -20 % (7B)"),
    ("TF32 to BF16", "a100-80gb", "tf32 " + GPT8, GPT8_BF16, "0.45 to 0.62",
     "GPT-2 series, 28.4k to 45.5k tokens/s; 1.6 to 2.2 times"),
    ("FP32 to FP16", "a100-80gb,v100-32gb", GPT8, GPT8 + " --autocast fp16", "0.48", "HF guide, +110 %"),
    ("explicit to fused attention", "a100-80gb", GPT8_BF16 + " --attention explicit", GPT8_BF16,
     "0.60 to 0.71", "GPT-2 series, 55k to 92k tokens/s; +40 to +66 %"),
    ("foreach to fused AdamW", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --fused", "0.97 to 0.985",
     "torchtitan, GPT-2 series"),
    ("foreach to a loop", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --forloop", "not measured", ""),
    ("4 as 4 × 1", "a100-80gb", GPT4_BF16,
     "train_gpt.py --batch 1 --accumulate 4 --autocast bf16", "1.00 to 1.18", "HF guide -12.5 %"),
    ("chunked loss", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --loss-chunks 8", "0.98 to 1.00",
     "torchtune, torchtitan: kernels of their own"),
    ("Adafactor", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --optimizer adafactor", "1.02 to 1.18",
     "HF guide"),
    ("optimizer on the host", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --offload optimizer",
     "1.2 to 3", "torchao +20 %, ZeRO-Offload 2.5 times"),
    ("all saved on the host, in turn", "a100-80gb", GPT8_BF16, GPT8_BF16 + " --offload activations",
     "not measured", ""),
)


@functools.lru_cache(maxsize=None)
def cost(gpu, program):
    """The model's figures."""
    words = program.split()
    start = ()
    if words[0] == "tf32":
        start, words = ("-c", TF32), words[1:]
    done = subprocess.run([TOOL, gpu, "-", "yes", os.environ["PLIM_TORCH_PYTHON"], *start,
                           str(EXAMPLES / words[0]), *words[1:]], capture_output=True, text=True,
                          env={**os.environ, "PLIM_HOME": HOME}, check=True)
    document = json.loads(done.stdout[done.stdout.index('{"allocated"'):])
    return document["cost"][gpu.rpartition(",")[2]]


def main():
    print("| technique | GPU | ms without | ms with | modelled | measured | source |")
    print("|---|---|---|---|---|---|---|")
    for number, (name, gpu, without, with_, measured, source) in enumerate(ROWS):
        if WANTED and str(number) not in WANTED:
            continue
        before, after = cost(gpu, without)["seconds"], cost(gpu, with_)["seconds"]
        if before == 0 or after == 0:
            print(f"| {name} | {gpu} | | | not known | {measured} | {source} |", flush=True)
            continue
        print(f"| {name} | {gpu} | {before * 1e3:.1f} | {after * 1e3:.1f} | "
              f"{after / before:.2f} | {measured} | {source} |", flush=True)


if __name__ == "__main__":
    TOOL, HOME = (os.path.abspath(path) for path in sys.argv[1:3])
    WANTED = sys.argv[3:]
    main()
