"""accelerate launch: a plain loop over two GPUs, in bfloat16."""

from program import MIB, Program
from programs.hugging_face import PACKAGES

WIDTH, LAYERS = 1024, 8  # as scripts/accelerate_train.py has them
PARAMETERS = LAYERS * WIDTH * (WIDTH + 1)

PROGRAM = Program(
    name="accelerate",
    what="accelerate 1.15, accelerate launch, 2 processes, bf16",
    packages=PACKAGES,
    devices=2,
    command=["accelerate", "launch", "--multi_gpu", "--num_processes=2", "--num_machines=1",
             "--mixed_precision=bf16", "--dynamo_backend=no", "SCRIPTS/accelerate_train.py"],
    # Weights, gradients, buckets, two states; weights and gradients in 16 bits, which autocast
    # makes; workspaces of cuBLAS, of 32 MiB each on an H100.
    low=16 * PARAMETERS,
    high=24 * PARAMETERS + 80 * MIB,
)
