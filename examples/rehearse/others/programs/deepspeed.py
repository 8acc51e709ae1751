"""DeepSpeed's ZeRO under its own launcher: two GPUs, bfloat16, AdamW."""

from program import MIB, Program

WIDTH, LAYERS, RANKS = 512, 4, 2  # as scripts/deepspeed_train.py has them
PARAMETERS = LAYERS * (8 * WIDTH * WIDTH + 5 * WIDTH)
WORKSPACES = 64 * MIB  # cuBLAS and cuBLASLt, of 32 MiB each on an H100
PACKAGES = ["deepspeed==0.19.8", "einops==0.8.2", "hjson==3.1.0", "msgpack==1.2.4",
            "ninja==1.13.2", "numpy==2.4.6", "packaging==26.3", "psutil==7.2.2",
            "py-cpuinfo==9.0.0", "pydantic==2.14.3", "pydantic_core==2.50.4", "tqdm==4.70.1",
            "annotated-types==0.8.0", "typing-inspection==0.4.5"]


def zero(stage, at_end):
    """`at_end`: bytes that each rank holds when all steps are over, but for workspaces."""
    return Program(
        name=f"deepspeed-zero{stage}",
        what=f"DeepSpeed 0.19, deepspeed launcher, 2 processes, ZeRO-{stage}",
        packages=PACKAGES,
        environment="deepspeed",
        devices=RANKS,
        steps=3,
        command=["deepspeed", "--num_gpus=2", "SCRIPTS/deepspeed_train.py", f"--stage={stage}"],
        low=at_end + WORKSPACES,
        at_end=(at_end + WORKSPACES, at_end + WORKSPACES + 4 * MIB),
    )


# Master weights and two states in 32 bits are shared by the ranks in every stage.
SHARED = 12 * PARAMETERS // RANKS
BUCKET = 2 * 50_000_000  # ZeRO-3 keeps one of its buckets, of reduce_bucket_size values
PROGRAMS = [
    zero(1, 2 * PARAMETERS + SHARED),
    zero(2, 2 * PARAMETERS + SHARED),
    zero(3, 2 * PARAMETERS // RANKS + 2 * PARAMETERS // RANKS + SHARED + BUCKET),
]
