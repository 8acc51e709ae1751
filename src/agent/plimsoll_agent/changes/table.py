"""Which class writes which technique down, in the order in which a stack is written."""

from plimsoll_agent.changes import activations, loops, optimizers, precision

TABLE = (
    ("conf", loops.Settings),
    ("batch", loops.Batch),
    ("weights", precision.Weights),
    ("optimizer=in_backward", optimizers.InBackward),
    ("fused", optimizers.Fused),
    ("foreach", optimizers.Foreach),
    ("optimizer", optimizers.OtherOptimizer),
    ("offload=optimizer", optimizers.OffloadOptimizer),
    ("set_to_none", optimizers.SetToNone),
    ("inference_mode", precision.InferenceMode),
    ("offload=layer_inputs", activations.OffloadInputs),
    ("checkpoint", activations.Checkpoint),
    ("loss", activations.LossInPieces),
    ("attention", activations.Flash),
    ("kv", activations.Cache),
    ("empty_cache", loops.EmptyCache),
    ("accumulate", loops.Accumulate),
    ("offload=all_saved", activations.OffloadSaved),
    ("autocast", precision.Autocast),
)


def row_of(text):
    """(its place, class) of "checkpoint=every:2"; None: no technique of that name."""
    name = text.partition("=")[0]
    for place, (key, kind) in enumerate(TABLE):
        if key in (name, text):
            return place, kind
    return None
