"""Wrappers that share a model between ranks: DistributedDataParallel, FSDP of both kinds."""

SHARDED = ("FullyShardedDataParallel", "FSDPModule")


def module_of(model, names):
    """The first module of a model whose class, or one that it inherits, has one of these names."""
    for module in model.modules():
        if any(kind.__name__ in names for kind in type(module).__mro__):
            return module
    return None


def type_by_policy(model):
    """What FSDP casts weights to before it computes with them; None where it does not."""
    module = module_of(model, SHARDED)
    if module is None:
        return None
    if hasattr(module, "_get_fsdp_state"):  # FSDP2
        policy = getattr(module._get_fsdp_state(), "_mp_policy", None)
    else:
        policy = getattr(module, "mixed_precision", None)
    return getattr(policy, "param_dtype", None)


def is_sharded(tensor):
    """A DTensor: this rank has a part of it."""
    return hasattr(tensor, "_local_tensor")
