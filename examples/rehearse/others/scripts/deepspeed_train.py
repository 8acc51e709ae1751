#!/usr/bin/env python3
"""A plain DeepSpeed program: residual blocks, bfloat16, AdamW, one stage of ZeRO."""

import argparse

import deepspeed
import torch
from torch import nn

WIDTH, LAYERS = 512, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", type=int, required=True)
    parser.add_argument("--local_rank", type=int, default=0)
    arguments = parser.parse_args()
    config = {
        "train_micro_batch_size_per_gpu": 2,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": arguments.stage, "reduce_bucket_size": 50_000_000},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
    }
    deepspeed.init_distributed()
    with deepspeed.zero.Init(config_dict_or_path=config, enabled=arguments.stage == 3):
        net = nn.Sequential(*[Block() for _ in range(LAYERS)])
    engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
    for _ in range(3):
        x = torch.randn(2, 64, WIDTH, device="cuda", dtype=torch.bfloat16)
        loss = engine(x).float().square().mean()
        engine.backward(loss)
        engine.step()
    torch.distributed.destroy_process_group()


main()
