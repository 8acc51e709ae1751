"""Programs that do not fit as they are, and the stacks that guides give for such a card.

Sources, as cited in docs/reference: the single-GPU training guide of transformers (accumulation,
checkpointing, mixed precision, Adafactor, 8-bit Adam), torchtune's single-device recipes (8B full:
bf16, 8-bit Adam in backward, checkpointing, chunked loss), diffusers' training examples for 8 to 16
GB (checkpointing, accumulation, mixed precision, 8-bit Adam), PyTorch's tuning guide.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    gpu: str
    command: str
    stacks: tuple  # of techniques, with blanks between


PROGRAMS = (
    Program("gpt2-124m-12gb", "rtx3060", "train_gpt.py --size 124M --batch 64 --steps 3", (
        "autocast=bf16 checkpoint accumulate=8",
        "autocast=fp16 checkpoint accumulate=16",
        "checkpoint accumulate=16 loss=chunked",
        "autocast=bf16 accumulate=16",
    )),
    Program("llama-1b-24gb", "rtx4090",
            "train_llama.py --size 1B --batch 8 --sequence 2048 --steps 3", (
                "autocast=bf16 checkpoint accumulate=8 loss=chunked",
                "autocast=bf16 checkpoint accumulate=8 offload=optimizer",
                "autocast=bf16 checkpoint accumulate=4 loss=chunked foreach=off",
            )),
    Program("llama-8b-80gb", "h100",
            "train_llama.py --size 8B --batch 4 --sequence 4096 --dtype bf16 --steps 3", (
                "checkpoint accumulate=4 loss=chunked",
                "checkpoint loss=chunked optimizer=in_backward",
                "checkpoint accumulate=4 loss=chunked fused",
                "checkpoint offload=optimizer loss=chunked",
            )),
    Program("unet-8gb", "rtx4060", "train_unet.py --channels 256 --batch 48 --steps 3", (
        "autocast=bf16 checkpoint",
        "autocast=bf16 checkpoint accumulate=4",
        "autocast=bf16 accumulate=8",
    )),
    Program("vit-h-16gb", "rtx4080", "train_vit.py --size H --batch 32 --steps 3", (
        "autocast=bf16 checkpoint",
        "autocast=bf16 accumulate=8",
        "autocast=bf16 checkpoint accumulate=4 fused",
    )),
)
