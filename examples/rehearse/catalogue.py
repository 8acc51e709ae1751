"""All reference runs: what is rehearsed, on which GPU, and what is true of it.

Labels are the ground truth for a diagnosis:

    healthy      nothing is wrong
    leak         memory grows in every step, or in every epoch; `cause` names the bug
    cycles       memory grows and falls again as Python's collector pleases
    waste        nothing grows, but memory is held that nobody needs; `cause` names the bug
    fragmented   reserved grows because free memory lies in pieces
    oom          it does not fit, and nothing but size is to blame; `cause` says which

`blame` is a piece of the source line that allocates what is kept or what is too large. `holder` is
the name of the object that keeps it: a variable, an attribute, or "garbage" where only Python's
collector can reach it. `full` is what makes a planted bug run out of memory: a capacity, arguments.

VERDICTS is what `plimsoll diagnose` is to answer.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Rehearsal:
    name: str
    command: str
    shows: str
    gpu: str = "h100"
    capacity: str = None
    devices: int = 1
    conf: str = None
    torchrun: int = 0
    label: str = "healthy"
    cause: str = None
    blame: str = None
    holder: str = None
    full: tuple = None
    ends: str = None  # the exception that ends it
    needs: str = None  # a Python package besides PyTorch

    @property
    def program(self):
        return self.command.split()[0]

    @property
    def arguments(self):
        return self.command.split()[1:]


# By label; where the cause makes it another, by both. Waste and cycles are bounded: they are findings
# of a healthy run. What is kept in pieces is a leak first: it would fill the device in one piece too.
VERDICTS = {
    "healthy": "healthy",
    "leak": "leak",
    "cycles": "healthy",
    "waste": "healthy",
    "fragmented": "fragmented",
    "oom": "exhausted",
    ("waste", "evaluate-with-grad"): "spike",
    ("fragmented", "fragmented"): "leak",
    ("oom", "logits"): "spike",
    ("oom", "optimizer"): "first_step_growth",
}


def verdict_of(label, cause):
    return VERDICTS.get((label, cause), VERDICTS[label])


EXPANDABLE = "expandable_segments:True"
SMALL = "train_gpt.py --size small --batch 4 --sequence 512 --steps 3"
TINY = "train_gpt.py --size tiny --batch 4 --sequence 256 --steps 3"

GPT = [
    Rehearsal("gpt2-124m", "train_gpt.py --autocast bf16",
              "GPT-2 124M, batch 8, sequence 1024: the real size"),
    Rehearsal("gpt2-124m-expandable", "train_gpt.py --autocast bf16",
              "the same on an A100 in expandable segments: activations to the byte",
              gpu="a100-80gb", conf=EXPANDABLE),
    Rehearsal("gpt2-124m-oom", "train_gpt.py --batch 32 --attention explicit",
              "scores of attention as tensors do not fit into 24 GB",
              gpu="rtx4090", label="oom", cause="activations", blame="scores = q @ k",
              holder="x", ends="OutOfMemoryError"),
    Rehearsal("gpt2-124m-checkpoint", "train_gpt.py --batch 16 --checkpoint 1 --autocast bf16 "
              "--loss-chunks 8", "all blocks recomputed, the loss in pieces", gpu="rtx4090"),
    Rehearsal("gpt2-124m-logits-oom", "train_gpt.py --batch 40 --checkpoint 1 --autocast bf16",
              "blocks are recomputed, and then the logits do not fit",
              gpu="rtx4090", label="oom", cause="logits", blame="logits.float()",
              holder="logits", ends="OutOfMemoryError"),
    Rehearsal("gpt-fp32", SMALL, "single precision, the plain case", gpu="a100-80gb"),
    Rehearsal("gpt-bf16-weights", SMALL + " --dtype bf16", "weights in bf16",
              gpu="a100-80gb", conf=EXPANDABLE),
    Rehearsal("gpt-fp16-scaler", SMALL + " --autocast fp16", "fp16 and a gradient scaler"),
    Rehearsal("gpt-accumulate", SMALL + " --autocast bf16 --accumulate 4 --fused",
              "four batches a step, AdamW in one kernel"),
    Rehearsal("gpt-keep-gradients", SMALL + " --no-set-to-none --clip 1.0",
              "gradients are zeroed instead of freed"),
    Rehearsal("gpt-sgd", SMALL + " --optimizer sgd --forloop", "no optimizer states"),
    Rehearsal("gpt-momentum", SMALL + " --optimizer momentum --foreach", "one state a weight",
              conf=EXPANDABLE),
    Rehearsal("gpt-adafactor", SMALL + " --optimizer adafactor", "a row and a column a matrix"),
    Rehearsal("gpt-checkpoint-half", SMALL + " --checkpoint 2", "every second block recomputed"),
    Rehearsal("gpt-lora", SMALL + " --lora 8", "adapters only"),
    Rehearsal("gpt-loss-chunks", SMALL + " --loss-chunks 8", "logits in eight pieces"),
    Rehearsal("gpt-dropout", SMALL + " --dropout 0.1 --attention explicit", "masks are kept"),
    Rehearsal("gpt-log-loss", TINY + " --log-loss", "the loss is read back in every step"),
    Rehearsal("gpt-offload-activations", TINY + " --offload activations", "saved on the host"),
    Rehearsal("gpt-offload-optimizer", TINY + " --offload optimizer", "states on the host"),
    Rehearsal("gpt-compile-eager", TINY + " --compile aot_eager",
              "forward and backward traced by torch.compile, and run as they are"),
    Rehearsal("gpt-compile", TINY + " --compile", "kernels by Inductor", needs="triton"),
    Rehearsal("gpt-graph", TINY + " --graph", "the step captured as a CUDA graph"),
]

LLAMA = [
    Rehearsal("llama-70b-forward-backward",
              "train_llama.py --size 70B --batch 1 --sequence 4096 --dtype bf16 "
              "--optimizer none --steps 1",
              "70B weights and their gradients on one device nobody can buy",
              capacity="1000GiB"),
    Rehearsal("llama-1b-checkpoint",
              "train_llama.py --size 1B --batch 4 --sequence 2048 --dtype bf16 --checkpoint 1",
              "1B with AdamW"),
    Rehearsal("llama-8b-oom",
              "train_llama.py --size 8B --batch 2 --sequence 4096 --dtype bf16 --checkpoint 1 "
              "--autocast bf16 --foreach",
              "weights, gradients and states of 8B, and nothing is left for the step",
              capacity="70GiB", label="oom", cause="optimizer", blame="self.scaler.step(",
              ends="OutOfMemoryError"),
    Rehearsal("llama-8b-lora",
              "train_llama.py --size 8B --batch 1 --sequence 512 --dtype bf16 --checkpoint 1 "
              "--lora 16", "8B adapted on a consumer's card", gpu="rtx4090"),
    Rehearsal("llama-tiny", "train_llama.py --size tiny --batch 4 --sequence 256",
              "small enough to read", conf=EXPANDABLE),
    Rehearsal("generate-8b-static",
              "generate.py --size 8B --batch 8 --prompt 1024 --tokens 16 --cache static",
              "a cache of keys and values made once"),
    Rehearsal("generate-1b-dynamic",
              "generate.py --size 1B --batch 8 --prompt 512 --tokens 48 --cache dynamic",
              "a cache that grows by concatenation", conf=EXPANDABLE),
    Rehearsal("generate-with-grad",
              "generate.py --size tiny --batch 8 --prompt 128 --tokens 24 --grad on",
              "generation that records history", label="leak", cause="evaluation-with-grad",
              blame="model(context, cache)", holder="cache",
              full=("1GiB", "--tokens 4000")),
    Rehearsal("generate-oom",
              "generate.py --size 8B --batch 16 --prompt 4096 --tokens 16 --cache static",
              "the cache does not fit beside the weights", gpu="rtx4090", label="oom",
              cause="kv-cache", blame="torch.zeros(size", ends="OutOfMemoryError"),
]

VISION = [
    Rehearsal("resnet50", "train_resnet.py --batch 32", "fp32, SGD with momentum"),
    Rehearsal("resnet50-channels-last", "train_resnet.py --batch 32 --channels-last "
              "--autocast bf16", "the layout tensor cores like", conf=EXPANDABLE),
    Rehearsal("resnet18-fp16", "train_resnet.py --depth 18 --batch 32 --autocast fp16",
              "fp16 and a scaler"),
    Rehearsal("resnet50-evaluate", "train_resnet.py --batch 64 --evaluate", "inference mode"),
    Rehearsal("vit-b", "train_vit.py --size B --batch 16 --autocast bf16 --fused",
              "a vision transformer"),
    Rehearsal("unet", "train_unet.py --average", "diffusion, and the weights' average"),
    Rehearsal("unet-expandable", "train_unet.py --autocast bf16", "in expandable segments",
              gpu="a100-80gb", conf=EXPANDABLE),
]

TRANSFORMERS = [
    Rehearsal(f"transformers-{model}",
              f"train_transformers.py --model {model} --small --batch 4 --sequence 256",
              f"Hugging Face's {model}", needs="transformers")
    for model in ("bert", "gpt2", "llama", "t5")
]

SHARDED = [
    Rehearsal("fsdp-8b-of-8",
              "train_fsdp.py --size 8B --fake 8 --sequence 4096 --checkpoint 1 --steps 2",
              "one rank of eight"),
    Rehearsal("fsdp-70b-of-64",
              "train_fsdp.py --size 70B --layers 16 --fake 64 --checkpoint 1 --steps 2",
              "one rank of sixty-four, of a fifth of 70B's layers"),
    Rehearsal("fsdp-70b-fragmented-oom",
              "train_fsdp.py --size 70B --layers 16 --fake 64 --checkpoint 1 --steps 2",
              "the same on a smaller GPU: enough is free, but in pieces", gpu="rtxa4500",
              label="fragmented", cause="gathered-weights", ends="OutOfMemoryError"),
    Rehearsal("fsdp-70b-fragmented",
              "train_fsdp.py --size 70B --layers 16 --fake 64 --checkpoint 1 --steps 2",
              "the same to its end, on that GPU with as much memory as it likes",
              gpu="rtxa4500", capacity="80GiB", label="fragmented", cause="gathered-weights"),
    Rehearsal("fsdp-tiny-2-ranks", "train_fsdp.py --size tiny --sequence 256",
              "two processes", devices=2, torchrun=2),
    Rehearsal("ddp-of-8", "train_ddp.py --size 124M --fake 8", "one rank, gradients in buckets"),
    Rehearsal("ddp-zero-of-8", "train_ddp.py --size 124M --fake 8 --zero --view",
              "states sharded, gradients are views"),
    Rehearsal("ddp-tiny-2-ranks", "train_ddp.py --size tiny --sequence 256", "two processes",
              devices=2, torchrun=2),
]


def planted(program, shows, label, blame, holder=None, full="1GiB"):
    """A bug and its cure."""
    name = program.replace("_", "-")
    return [Rehearsal(f"bug-{name}", f"bugs/{program}.py", shows, label=label, cause=name,
                      blame=blame, holder=holder,
                      full=(full, "--steps 2000") if holder else None),
            Rehearsal(f"fixed-{name}", f"bugs/{program}.py --fixed", f"not: {shows}")]


BUGS = [
    *planted("loss_kept", "a monitored loss keeps its history", "leak",
             "logits.log_softmax(1)", "total"),
    *planted("outputs_kept", "outputs collected on the device", "leak", "logits = model",
             "predictions"),
    *planted("hook_kept", "a hook keeps activations", "leak", "layer(x)", "seen"),
    *planted("evaluate_with_grad", "evaluation records history", "waste",
             "functional.cross_entropy(model(features), classes)", "loss", "920MiB"),
    *planted("missing_zero_grad", "gradients are never cleared", "waste", "loss.backward()"),
    *planted("retain_graph", "history runs through all steps", "leak", "torch.tanh(cell(", "state"),
    *planted("growing_cache", "a cache without a limit", "leak", "model.layers[0](features)",
             "cache"),
    *planted("cycle", "reference cycles wait for the collector", "cycles", "model(features)",
             "garbage", "830MiB"),
    *planted("traceback_kept", "exceptions keep frames", "leak", "logits = model", "errors"),
    *planted("logits_kept_fp32", "logits of a whole set in fp32", "leak", "logits.float()", "kept"),
    *planted("optimizer_recreated", "old optimizers keep their states", "leak",
             "optimizer.step()", "schedulers", "2GiB"),
    *planted("loader_on_device", "an epoch of batches on the device", "waste",
             "features.cuda()", "ready"),
    *planted("fragmented", "free memory in pieces", "fragmented", ".clone()", "results"),
    Rehearsal("bug-outputs-kept-oom", "bugs/outputs_kept.py --steps 200",
              "outputs collected until the device is full", capacity="1GiB", label="leak",
              cause="outputs-kept", blame="logits = model", holder="predictions",
              ends="OutOfMemoryError"),
]

ALL = GPT + LLAMA + VISION + TRANSFORMERS + SHARDED + BUGS


def until_full(one):
    """The same, until memory is full."""
    capacity, arguments = one.full
    return dataclasses.replace(one, name=f"{one.name}-full", command=f"{one.command} {arguments}",
                               capacity=capacity, full=None, ends="OutOfMemoryError")


def find(name):
    for rehearsal in ALL:
        if rehearsal.name == name:
            return rehearsal
    raise KeyError(f"no reference run is called {name!r}")


if __name__ == "__main__":
    for one in ALL:
        print(f"{one.name:28}{one.label:12}{one.shows}")
