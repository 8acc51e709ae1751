"""What each technique has to become in each program of others.

LOWER      applied, and the peak of allocated memory is lower by 1 % or more
APPLIED    applied; the peak lies elsewhere (in no case higher by more than 1 %)
(state, …) refused, no_effect or waiting, with a part of the reason
"""

LOWER, APPLIED = ("applied", True), ("applied", False)


def refused(part):
    return "refused", part


def no_effect(part):
    return "no_effect", part


def waiting(part):
    return "waiting", part


# Of a program that trains in float32 with AdamW, evaluates nothing, and generates nothing.
USUAL = {
    "set_to_none": no_effect("freed already"),
    "autocast=bf16": LOWER,
    "autocast=fp16": LOWER,
    "checkpoint": LOWER,
    "checkpoint=every:2": LOWER,
    "accumulate=2": LOWER,
    "foreach=off": APPLIED,
    "fused": APPLIED,
    "optimizer=8bit": LOWER,
    "optimizer=in_backward": refused("clips their norm"),
    "optimizer=adafactor": LOWER,
    "optimizer=sgd": LOWER,
    "offload=layer_inputs": LOWER,
    "offload=all_saved": LOWER,
    "offload=optimizer": LOWER,
    "loss=chunked": LOWER,
    "attention=flash": no_effect("runs already"),
    "inference_mode": waiting("no module was called for an evaluation"),
    "weights=bf16": LOWER,
    "batch=2": LOWER,
    "batch=eval:2": waiting("no torch.utils.data.DataLoader"),
    "empty_cache": APPLIED,
    "kv=static": waiting("generate() was not called"),
}
TECHNIQUES = tuple(USUAL)

# transformers' Trainer makes a fused AdamW.
FUSED = {"foreach=off": no_effect("is fused"), "fused": no_effect("fused already")}
TRAINER = {**USUAL, **FUSED}
NO_LOGITS = {"loss=chunked": refused("wide enough")}
EVALUATES = {"inference_mode": no_effect("without gradients already")}
MIXED = {"autocast=bf16": no_effect("enters torch.autocast in bfloat16 itself"),
         "autocast=fp16": refused("enters torch.autocast in bfloat16 itself")}
CHECKPOINTS = {"checkpoint": no_effect("on already"), "checkpoint=every:2": no_effect("on already"),
               "offload=layer_inputs": APPLIED, "offload=all_saved": APPLIED}
SHARED_LOADER = {"batch=eval:2": refused("the loader that it trains with")}
NO_LOADER = {"batch=2": waiting("no torch.utils.data.DataLoader")}
SEVERAL_PASSES = {"optimizer=in_backward": refused("several backward passes for one step")}

EXPECTED = {
    "trainer gpt2": {**TRAINER, **EVALUATES, "batch=eval:2": APPLIED},
    "trainer bert": {**TRAINER, **NO_LOGITS},
    "trainer t5": TRAINER,
    "trainer vit": {**TRAINER, **NO_LOGITS},
    "trainer gpt2, its own": {**TRAINER, **MIXED, **CHECKPOINTS, **SEVERAL_PASSES,
                              "loss=chunked": APPLIED},
    "lightning": {**USUAL, **EVALUATES, **SHARED_LOADER, "optimizer=in_backward": APPLIED},
    "lightning, its own": {
        **USUAL, **EVALUATES, **SHARED_LOADER, **MIXED, **SEVERAL_PASSES,
        "fused": refused("Lightning clips gradients")},
    "accelerate": {**USUAL, **EVALUATES, **SHARED_LOADER, "optimizer=in_backward": APPLIED,
                   "attention=flash": waiting("no attention was called")},
    "accelerate, its own": {
        **USUAL, **EVALUATES, **SHARED_LOADER, **MIXED, **SEVERAL_PASSES,
        "attention=flash": waiting("no attention was called")},
    "diffusers": {**USUAL, "loss=chunked": no_effect("took the output"),
                  **NO_LOADER},
    "trl": {**TRAINER, **CHECKPOINTS, "loss=chunked": no_effect("was not called")},
    "nanogpt": {**USUAL, **FUSED, **MIXED, **EVALUATES,
                **NO_LOADER},
    # Its peak is a workspace of cuDNN's, which is there whatever else is; batches are normalised.
    "torchvision": {
        **USUAL, **EVALUATES, **NO_LOGITS, "batch=eval:2": APPLIED,
        **dict.fromkeys(("autocast=fp16", "checkpoint", "checkpoint=every:2", "accumulate=2",
                         "optimizer=in_backward", "offload=layer_inputs", "offload=all_saved",
                         "batch=2"), APPLIED),
        "optimizer=8bit": refused("only Adam"), "optimizer=adafactor": refused("only Adam"),
        "optimizer=sgd": refused("SGD already"),
        "attention=flash": waiting("no attention was called")},
    "diffusers, its example": {  # its peak is in the step
        **USUAL, **MIXED, "loss=chunked": no_effect("took the output"),
        **dict.fromkeys(("checkpoint", "checkpoint=every:2", "accumulate=2",
                         "offload=layer_inputs", "offload=all_saved", "batch=2"), APPLIED)},
    "ddp": {**USUAL, **MIXED, "accumulate=2": refused("DistributedDataParallel"),
            "optimizer=in_backward": refused("several ranks"),
            "loss=chunked": refused("looks for unused parameters"),
            "weights=bf16": refused("DistributedDataParallel"), **NO_LOADER},
    "fsdp": {**USUAL, "autocast=bf16": no_effect("FSDP computes in bfloat16 already"),
             "autocast=fp16": refused("gradients are sharded"), "accumulate=2": refused("FSDP"),
             "optimizer=8bit": refused("sharded"), "optimizer=adafactor": refused("sharded"),
             "optimizer=in_backward": refused("several ranks"),
             "offload=optimizer": refused("CPUOffloadPolicy"), "loss=chunked": refused("FSDP"),
             "weights=bf16": refused("FSDP2"), **NO_LOADER},
}
