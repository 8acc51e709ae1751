"""The process group of a multi-GPU program.

Under torchrun each rank takes the GPU of its local rank and NCCL connects them. With --fake one
process plays rank R of a world of N: PyTorch's fake group answers every collective at once, and
memory is that of rank R.
"""

import inspect
import os

import torch
from torch import distributed

import marks


def add_arguments(parser):
    parser.add_argument("--fake", type=int, metavar="N",
                        help="be one rank of a world of N, without the others")
    parser.add_argument("--rank", type=int, default=0, help="which rank, with --fake")


def start(arguments):
    """Join the group; the device of this rank."""
    marks.need_cuda()
    if arguments.fake:
        from torch.testing._internal.distributed.fake_pg import FakeStore
        torch.cuda.set_device(0)
        distributed.init_process_group("fake", store=FakeStore(), rank=arguments.rank,
                                       world_size=arguments.fake)
        return torch.device("cuda", 0)
    if "RANK" not in os.environ:
        raise SystemExit("start this with torchrun --nproc-per-node N, or give --fake N")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    takes = inspect.signature(distributed.init_process_group).parameters
    where = {"device_id": device} if "device_id" in takes else {}  # since PyTorch 2.3
    distributed.init_process_group("nccl", **where)
    return device
