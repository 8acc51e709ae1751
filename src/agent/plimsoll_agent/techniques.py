"""Techniques that show in the objects that are alive: each judged by what the objects hold.

A technique is noted where the program switched it on, with its effect and the evidence. What does
not show is left out.
"""

from plimsoll_agent import allocator
from plimsoll_agent.amounts import share_text, size_text
from plimsoll_agent.inventory import size_of

TECHNIQUE = "technique"


class Moment:
    """The moment of a look.

    backwards  passes that ended
    is_end     nothing will follow
    compiled   graphs of torch.compile ran
    """

    def __init__(self, backwards, is_end, compiled):
        self.backwards = backwards
        self.is_end = is_end
        self.compiled = compiled


# ---- optimizers --------------------------------------------------------------------------------

_PACKED = ("uint8", "int8")


def _is_low_bit(optimizer):
    kind = type(optimizer)
    if kind.__module__.split(".")[0] not in ("bitsandbytes", "torchao"):
        return False
    bits = getattr(getattr(optimizer, "args", None), "optim_bits", None)
    return bits == 8 or any(word in kind.__name__.lower() for word in ("8bit", "4bit", "fp8"))


def _state_bytes(optimizer):
    """(bytes of packed states, bytes of others)."""
    packed = wide = 0
    for state in list(optimizer.state.values()):
        for tensor in state.values() if isinstance(state, dict) else ():
            if not hasattr(tensor, "numel") or tensor.numel() <= 1:
                continue
            codes = getattr(tensor, "codes", None)  # of torchao's tensors
            if codes is not None:
                packed += size_of(codes)
            elif str(tensor.dtype).replace("torch.", "") in _PACKED:
                packed += size_of(tensor)
            else:
                wide += size_of(tensor)
    return packed, wide


def low_bit_optimizer(facts, inventory):
    for optimizer in inventory.optimizers:
        if not _is_low_bit(optimizer):
            continue
        packed, wide = _state_bytes(optimizer)
        evidence = f"Its states: {size_text(packed)} packed, {size_text(wide)} in wider types."
        if packed + wide == 0:
            effect, evidence = "unknown", "It has no states yet."
        elif packed < wide:
            effect = "no"
            evidence += " Tensors of less than 4096 elements, and overrides, keep 32 bits."
        else:
            effect = "yes"
        facts.add(TECHNIQUE, "8-bit optimizer", type(optimizer).__name__, effect, evidence)
        return


def optimizer_in_backward(facts, classes):
    """classes: {name: stepped within backward}."""
    names = [name for name, within in classes.items() if within]
    if names:
        facts.add(TECHNIQUE, "optimizer in backward", ", ".join(names), "yes",
                  "It steps within the backward pass, so gradients are freed as they come.")


# ---- models ------------------------------------------------------------------------------------

def lora(facts, inventory):
    adapted = [module for module in inventory.modules
               if "lora_A" in (module.__dict__.get("_modules") or {})
               or "lora_A" in (module.__dict__.get("_parameters") or {})]
    if not adapted:
        return
    total = sum(size_of(parameter) for parameter in inventory.parameters)
    trained = sum(size_of(parameter) for parameter in inventory.parameters
                  if parameter.requires_grad)
    share = share_text(trained, total)
    if 2 * trained <= total:
        facts.add(TECHNIQUE, "LoRA", f"{len(adapted)} modules", "yes",
                  f"{share} of the parameters' bytes require gradients.")
    else:
        facts.add(TECHNIQUE, "LoRA", f"{len(adapted)} modules", "no",
                  f"{share} of the parameters' bytes require gradients: the base model is trained "
                  "too.")


def _held(parameter):
    """(elements that this rank holds, elements of the whole)."""
    flat = getattr(parameter, "_unpadded_unsharded_size", None)  # of FSDP1
    if flat is not None:
        return parameter._sharded_size.numel(), flat.numel()
    whole = getattr(parameter, "ds_numel", None)  # of DeepSpeed
    if whole is not None:
        held = getattr(parameter, "ds_tensor", None)
        return (held.numel() if held is not None else whole), whole
    local = getattr(parameter, "_local_tensor", None)  # a DTensor's: FSDP2, tensor parallelism
    return (local if local is not None else parameter).numel(), parameter.numel()


def _sharder(inventory):
    """The name of what would shard, or None."""
    for module in inventory.modules:
        names = {kind.__name__ for kind in type(module).__mro__}
        for name, text in (("FullyShardedDataParallel", "FSDP"), ("FSDPModule", "FSDP2"),
                           ("DeepSpeedEngine", "DeepSpeed ZeRO")):
            if name in names:
                return text
    kinds = {type(optimizer).__name__ for optimizer in inventory.optimizers}
    return "ZeroRedundancyOptimizer" if "ZeroRedundancyOptimizer" in kinds else None


def sharding(facts, inventory, world_size):
    name = _sharder(inventory)
    if name is None:
        return
    if world_size <= 1:
        facts.add(TECHNIQUE, "sharding", name, "no", "There is one rank, which holds everything.")
        return
    if name in ("ZeroRedundancyOptimizer", "DeepSpeed ZeRO"):
        stage = next((module.zero_optimization_stage() for module in inventory.modules
                      if hasattr(type(module), "zero_optimization_stage")), 1)
        if stage < 3:
            facts.add(TECHNIQUE, "sharding", f"{name}, stage {stage}",
                      "yes" if stage > 0 else "no",
                      f"Optimizer states are sharded over {world_size} ranks; parameters are not."
                      if stage > 0 else "Stage 0 shards nothing.")
            return
    held = whole = 0
    for parameter in inventory.parameters:
        mine, all_ = _held(parameter)
        held, whole = held + mine, whole + all_
    if whole == 0:
        return
    share = share_text(held, whole)
    if held < 0.99 * whole:
        facts.add(TECHNIQUE, "sharding", name, "yes",
                  f"This rank of {world_size} holds {share} of the parameters.")
    else:
        facts.add(TECHNIQUE, "sharding", name, "no",
                  f"Each of {world_size} ranks holds all parameters: the strategy shards nothing.")


# ---- the allocator and the device --------------------------------------------------------------

def expandable_segments(facts, found):
    """found: the Allocator."""
    name, value = "expandable segments", "expandable_segments:True"
    variable, text = allocator.asked()
    is_wanted = allocator.parse(text).get("expandable_segments") == "True"
    if found.settings is None:
        if is_wanted:
            facts.add(TECHNIQUE, name, value, "unknown", "This PyTorch does not say.")
        return
    is_set = found.settings.get("expandable_segments") is not None
    segments = found.segments
    if not is_set:
        if is_wanted:
            facts.add(TECHNIQUE, name, value, "no",
                      f"{variable} asks for it and the allocator does not have it: this PyTorch "
                      "does not read that variable, or it was set after CUDA had begun.")
    elif segments is None or segments.reserved_bytes == 0:
        facts.add(TECHNIQUE, name, value, "yes", "The allocator has the setting.")
    else:
        facts.add(TECHNIQUE, name, value, "yes" if segments.expandable_bytes > 0 else "no",
                  f"{size_text(segments.expandable_bytes)} of {size_text(segments.reserved_bytes)} "
                  "reserved are in expandable segments.")


def cuda_graphs(facts, counts, found):
    """counts: the tally."""
    made, replays = counts.get("graph instantiation", 0), counts.get("graph launch", 0)
    if made == 0:
        return
    pools = found.segments.pool_bytes if found.segments is not None else 0
    graphs = f"{made} graph{'s' if made > 1 else ''}"
    held = f"; {size_text(pools)} are reserved in private pools" if pools > 0 else ""
    facts.add(TECHNIQUE, "CUDA graphs", graphs, "yes" if replays > 0 else "no",
              f"{graphs} captured, {replays} replays{held}.")
