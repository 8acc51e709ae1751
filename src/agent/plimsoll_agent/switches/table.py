"""Which class switches which technique on, outermost first: see Program for what that means.

Names, values and labels are those of src/technique/technique.c.
"""

# (technique, or technique=value where values have classes of their own; module; class)
TABLE = (
    ("batch", "batch", "Batch"),
    ("accumulate", "accumulate", "Accumulate"),
    ("weights", "weights", "Weights"),
    ("autocast", "autocast", "Autocast"),
    ("inference_mode", "inference_mode", "InferenceMode"),
    ("offload=all_saved", "offload_saved", "OffloadSaved"),
    ("offload=layer_inputs", "offload_inputs", "OffloadInputs"),
    ("checkpoint", "checkpoint", "Checkpoint"),
    ("attention", "attention", "Attention"),
    ("loss", "loss", "Loss"),
    ("kv", "kv", "KeyValues"),
    ("optimizer=in_backward", "optimizer_in_backward", "OptimizerInBackward"),
    ("optimizer", "optimizer", "OtherOptimizer"),
    ("offload=optimizer", "offload_optimizer", "OffloadOptimizer"),
    ("foreach", "foreach", "Foreach"),
    ("fused", "fused", "Fused"),
    ("set_to_none", "set_to_none", "SetToNone"),
    ("empty_cache", "empty_cache", "EmptyCache"),
)


def row_of(name, value):
    """(place in the order, module, class); None for a technique that is not the agent's (conf)."""
    for place, (key, module, kind) in enumerate(TABLE):
        if key in (name, f"{name}={value}"):
            return place, module, kind
    return None
