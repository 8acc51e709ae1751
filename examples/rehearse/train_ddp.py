"""Train a GPT-2 with DistributedDataParallel: every rank holds everything, and buckets besides.

    torchrun --nproc-per-node 8 train_ddp.py --size 124M
    python train_ddp.py --fake 8
"""

import argparse

import torch
from torch import distributed
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import groups
import marks
import techniques
from models import gpt


def average_alone(world, bucket):
    """What the default hook does with a bucket, without asking the others."""
    future = torch.futures.Future()
    future.set_result(bucket.buffer().div_(world))
    return future


def wrap(model, arguments):
    """DistributedDataParallel, which asks the other ranks for shapes and for the order of buckets.
    The fake group has no answers, so there it is told not to ask: nothing is compared at the
    start, buckets stay as they are (which is what looking for unused parameters implies), and
    the hook after each bucket does not wait for a sum."""
    alone = {"init_sync": False} if arguments.fake else {}  # not every version has it
    model = DistributedDataParallel(model, bucket_cap_mb=arguments.bucket_mb,
                                    gradient_as_bucket_view=arguments.view, **alone,
                                    find_unused_parameters=bool(arguments.fake))
    if arguments.fake:
        model.register_comm_hook(arguments.fake, average_alone)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=gpt.SIZES, default="124M")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=512)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--bucket-mb", type=int, default=25)
    parser.add_argument("--view", action="store_true", help="gradients are views of the buckets")
    parser.add_argument("--zero", action="store_true", help="shard the optimizer: ZeRO-1")
    groups.add_arguments(parser)
    marks.add_arguments(parser)
    arguments = parser.parse_args()

    device = groups.start(arguments)
    shape = gpt.SIZES[arguments.size]
    with marks.Marks(arguments, device) as run:
        run.fact("world", distributed.get_world_size())
        with torch.device(device):
            model = gpt.GPT(shape)
        run.model(model)
        model = wrap(model, arguments)
        run.at("wrapped")
        if arguments.zero:
            optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW)
        else:
            optimizer = torch.optim.AdamW(model.parameters())
        objective = techniques.Objective(model)
        for step in range(arguments.steps):
            tokens, targets = techniques.batch_of(arguments, shape.vocabulary, device)
            with torch.autocast("cuda", torch.bfloat16):
                loss = objective(tokens, targets)
            run.moment(step, "forward")
            loss.backward()
            run.moment(step, "backward")
            optimizer.step()
            run.moment(step, "step")
            optimizer.zero_grad()
            run.moment(step, "zeroed")
            run.step(step, loss)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
