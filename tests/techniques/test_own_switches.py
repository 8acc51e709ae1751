#!/usr/bin/env python3
"""test_own_switches.py PLIMSOLL - a technique from outside needs what the program's own switch needs.

Each row of examples/rehearse is rehearsed plain under --with, and with its own switch: peaks of
allocated and reserved memory lie within 1 %.
"""
import concurrent.futures
import sys
import unittest

import rehearsals

GPT = "train_gpt.py --size small --batch 4 --sequence 512 --steps 3"
STEP = GPT + " --batch 1 --sequence 64"  # the step is the peak
LLAMA = "train_llama.py --size tiny --batch 4 --sequence 256 --steps 3"
VIT = "train_vit.py --size B --batch 8 --steps 2"
RESNET = "train_resnet.py --depth 18 --batch 16 --steps 2"
UNET = "train_unet.py --batch 4 --steps 2"
BERT, GPT2, T5, HF_LLAMA = (f"train_transformers.py --small --batch 4 --sequence 128 --steps 2 "
                            f"--model {model}" for model in ("bert", "gpt2", "t5", "llama"))
GENERATE = "generate.py --size tiny --batch 4 --prompt 256 --tokens 8"

# (plain command, techniques, the same with the program's own switches)
ROWS = [
    (GPT, ["autocast=bf16"], GPT + " --autocast bf16"),
    (GPT, ["autocast=fp16"], GPT + " --autocast fp16"),
    (GPT, ["checkpoint"], GPT + " --checkpoint 1"),
    (GPT, ["checkpoint=every:2"], GPT + " --checkpoint 2"),
    (GPT, ["accumulate=4"], GPT + " --batch 1 --accumulate 4"),
    (GPT, ["loss=chunked:8"], GPT + " --loss-chunks 8"),
    (STEP, ["foreach=off"], STEP + " --forloop"),
    (STEP, ["fused"], STEP + " --fused"),
    (STEP + " --forloop", ["fused"], STEP + " --fused"),
    (GPT + " --no-set-to-none", ["set_to_none"], GPT),
    (GPT, ["optimizer=sgd"], GPT + " --optimizer sgd"),
    (GPT, ["optimizer=adafactor"], GPT + " --optimizer adafactor"),
    (STEP, ["optimizer=sgd"], STEP + " --optimizer sgd"),
    (STEP, ["optimizer=adafactor"], STEP + " --optimizer adafactor"),
    (GPT, ["offload=all_saved"], GPT + " --offload activations"),
    (GPT, ["offload=optimizer"], GPT + " --offload optimizer"),
    (GPT, ["weights=bf16"], GPT + " --dtype bf16"),
    (LLAMA, ["checkpoint"], LLAMA + " --checkpoint 1"),
    (LLAMA, ["loss=chunked:4"], LLAMA + " --loss-chunks 4"),
    (LLAMA, ["autocast=bf16"], LLAMA + " --autocast bf16"),
    (VIT, ["autocast=bf16"], VIT + " --autocast bf16"),
    (VIT, ["fused"], VIT + " --fused"),
    (RESNET, ["autocast=bf16"], RESNET + " --autocast bf16"),
    (RESNET, ["autocast=fp16"], RESNET + " --autocast fp16"),
    (UNET, ["autocast=bf16"], UNET + " --autocast bf16"),
    (BERT, ["checkpoint"], BERT + " --checkpoint"),
    (HF_LLAMA, ["checkpoint"], HF_LLAMA + " --checkpoint"),
    (T5, ["checkpoint"], T5 + " --checkpoint"),
    (T5, ["autocast=bf16"], T5 + " --autocast bf16"),
    (GPT2, ["autocast=bf16", "checkpoint"], GPT2 + " --autocast bf16 --checkpoint"),
    (GENERATE + " --grad on", ["inference_mode"], GENERATE + " --grad inference"),
    (GENERATE + " --grad on --cache none", ["inference_mode"],
     GENERATE + " --grad inference --cache none"),
    (GPT, ["offload=all_saved", "offload=optimizer"], GPT + " --offload both"),
    (GPT, ["autocast=bf16", "checkpoint", "accumulate=2"],
     GPT + " --batch 2 --accumulate 2 --autocast bf16 --checkpoint 1"),
    (GPT, ["checkpoint", "loss=chunked:8", "offload=optimizer"],
     GPT + " --checkpoint 1 --loss-chunks 8 --offload optimizer"),
]
SHORT = (2, 4)  # rows in a short run
RESERVES_LESS = "offload=all_saved"  # save_on_cpu copies parameters there and back as well


def is_near(one, other):
    return abs(one - other) <= 0.01 * other


class OwnSwitches(unittest.TestCase):
    plimsoll = None

    def compare(self, row):
        plain, techniques, own = row
        with_it = rehearsals.Rehearsed(self.plimsoll, plain, techniques)
        other = rehearsals.Rehearsed(self.plimsoll, own)
        figures = (with_it.allocated, other.allocated, with_it.reserved, other.reserved)
        is_good = is_near(*figures[:2]) and (is_near(*figures[2:]) or (
            RESERVES_LESS in techniques and figures[2] < figures[3]))
        return is_good, f"{' '.join(techniques)} on {plain}: " + " / ".join(
            f"{figure / 2**20:.1f}" for figure in figures)

    def test_peaks_are_those_of_the_programs_own_switches(self):
        rows = [ROWS[at] for at in SHORT] if rehearsals.IS_SHORT else ROWS
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for is_good, text in pool.map(self.compare, rows):
                print("ok  " if is_good else "FAR ", text, flush=True)
                with self.subTest(text):
                    self.assertTrue(is_good, text)


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    OwnSwitches.plimsoll = sys.argv.pop(1)
    unittest.main()
