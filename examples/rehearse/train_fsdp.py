"""Train a Llama sharded over GPUs with FSDP2.

    torchrun --nproc-per-node 8 train_fsdp.py --size 8B
    python train_fsdp.py --size 70B --fake 64
"""

import argparse
import dataclasses

import torch
from torch import distributed
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from torch.distributed.fsdp import fully_shard

import groups
import marks
import techniques
from models import llama


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=llama.SIZES, default="1B")
    parser.add_argument("--layers", type=int, help="instead of those of the size")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--checkpoint", type=int, default=0, metavar="K")
    parser.add_argument("--full-precision", action="store_true",
                        help="compute in fp32 rather than in bf16")
    parser.add_argument("--keep-gathered", action="store_true",
                        help="ZeRO-2: keep weights gathered between forward and backward")
    parser.add_argument("--cpu-offload", action="store_true")
    groups.add_arguments(parser)
    marks.add_arguments(parser)
    return parser.parse_args()


def shard(model, arguments):
    """Every block a unit of its own, and the rest at the root. Recomputation happens inside a
    unit, so that it sees inputs as the unit has cast them."""
    mesh = init_device_mesh("cuda", (distributed.get_world_size(),))
    policy = MixedPrecisionPolicy() if arguments.full_precision else \
        MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    options = {"mesh": mesh, "mp_policy": policy,
               "reshard_after_forward": not arguments.keep_gathered,
               "offload_policy": CPUOffloadPolicy() if arguments.cpu_offload
               else OffloadPolicy()}
    for index, block in enumerate(model.blocks):
        if arguments.checkpoint and index % arguments.checkpoint == 0:
            model.blocks[index] = checkpoint_wrapper(block)
        fully_shard(model.blocks[index], **options)
    return fully_shard(model, **options)


def materialise(model, arguments, device):
    """Give the shards memory: until here the model was shapes only. The tables of rotary
    positions are no parameters, so they are computed anew."""
    home = torch.device("cpu") if arguments.cpu_offload else device
    model.to_empty(device=home)
    with torch.device(device), torch.no_grad():
        model.cos, model.sin = llama.rotary_tables(model.shape)
        for parameter in model.parameters():
            parameter.normal_(std=0.02)


def train(model, arguments, run):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    objective = techniques.Objective(model)
    for step in range(arguments.steps):
        tokens, targets = techniques.batch_of(arguments, model.shape.vocabulary, run.device)
        loss = objective(tokens, targets)
        run.moment(step, "forward")
        loss.backward()
        run.moment(step, "backward")
        optimizer.step()
        run.moment(step, "step")
        optimizer.zero_grad()
        run.moment(step, "zeroed")
        run.step(step, loss)


def main():
    arguments = parse()
    device = groups.start(arguments)
    shape = llama.SIZES[arguments.size]
    shape = dataclasses.replace(shape, layers=arguments.layers or shape.layers,
                                context=max(shape.context, arguments.sequence))
    with marks.Marks(arguments, device) as run:
        run.fact("shape", dataclasses.asdict(shape))
        run.fact("world", distributed.get_world_size())
        with torch.device("meta"):
            model = llama.Llama(shape)
        shard(model, arguments)
        materialise(model, arguments, device)
        run.model(model)
        train(model, arguments, run)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
