"""A batch in pieces: the tensors of a call's arguments divided by rows, and outputs joined again.

Rows are the first dimension. A tensor with as many rows as the batch is divided; any other (a
position, a mask that broadcasts, a scalar) goes into each piece as it is.
"""

import collections.abc
import copy
import dataclasses
import inspect

from plimsoll_agent.switches.switch import Refusal

_TARGETS = ("labels", "label", "targets", "target", "y")


def mapped(value, function):
    """value with function(tensor) in the place of each tensor, in containers of the same types."""
    if hasattr(value, "requires_grad") and hasattr(value, "shape"):  # lazy logits stay lazy
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(one, function) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(one, function) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _changed(value, {field.name: mapped(getattr(value, field.name), function)
                                for field in dataclasses.fields(value)})
    if isinstance(value, collections.abc.MutableMapping):
        return _changed(value, {key: mapped(value[key], function) for key in list(value)})
    return value


def _changed(value, members):
    """A copy of a mapping or a dataclass with other members."""
    changed = copy.copy(value)
    data = changed.__dict__.get("data") if hasattr(changed, "__dict__") else None
    if isinstance(data, dict) and data is value.__dict__.get("data"):
        changed.data = dict(data)  # a UserDict, as BatchEncoding: its copy may share
    is_mapping = isinstance(changed, collections.abc.MutableMapping)
    for name, member in members.items():
        if is_mapping:
            if name in changed:
                changed[name] = member
        elif getattr(changed, name) is not member:
            object.__setattr__(changed, name, member)
    return changed


def tensors_of(value):
    """All tensors in value, in order."""
    found = []

    def note(tensor):
        found.append(tensor)
        return tensor

    mapped(value, note)
    return found


def rows_of(args, kwargs):
    """Rows of the batch: of the first tensor that has two dimensions, else one; None without."""
    shapes = [tensor.shape for tensor in tensors_of((args, kwargs)) if len(tensor.shape) > 0]
    wide = [shape for shape in shapes if len(shape) > 1 and shape[0] > 1]
    return (wide or shapes)[0][0] if shapes else None


def bounds_of(rows, count):
    """[(first row, row after the last)] of count pieces, the longer ones first, as torch.chunk."""
    size, longer = divmod(rows, count)
    ends = [0]
    for piece in range(count):
        ends.append(ends[-1] + size + (piece < longer))
    return list(zip(ends, ends[1:]))


def piece_of(value, rows, bounds):
    """The rows within bounds of every tensor that has as many rows as the batch."""
    def cut(tensor):
        is_batch = len(tensor.shape) > 0 and tensor.shape[0] == rows
        return tensor[bounds[0]:bounds[1]] if is_batch else tensor

    return mapped(value, cut)


def named(module, args, kwargs):
    """Arguments by the names that the module's forward has for them."""
    inner = getattr(module, "_orig_mod", module)
    try:
        return dict(inspect.signature(inner.forward).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return dict(kwargs)


def targets_of(arguments):
    """The tensor of targets among a call's named arguments; None without one of whole numbers."""
    flat = dict(arguments)
    for value in arguments.values():
        if isinstance(value, dict):
            flat.update(value)
    for name in _TARGETS:
        tensor = flat.get(name)
        if hasattr(tensor, "is_floating_point") and not tensor.is_floating_point():
            return tensor
    return None


def is_shifted(module):
    """The model compares each position with the target of the next: transformers' causal ones."""
    for inner in list(module.modules())[:8]:
        if getattr(inner, "loss_type", None) == "ForCausalLM":
            return True
        if type(inner).__name__.endswith(("ForCausalLM", "LMHeadModel")):
            return True
    return False


def shares_of(torch, module, arguments, rows, bounds):
    """(what each piece's mean weighs in the mean of the batch, how that was found).

    By targets that are not negative (cross entropy leaves out -100, nanoGPT's -1), so that pieces
    with more padding weigh less; else by rows. Sums that the caller divides itself weigh 1.
    """
    if arguments.get("num_items_in_batch") is not None or (
            isinstance(arguments.get("kwargs"), dict)
            and arguments["kwargs"].get("num_items_in_batch") is not None):
        return [1.0] * len(bounds), "sums that num_items_in_batch divides"
    targets = targets_of(arguments)
    if targets is None or len(targets.shape) == 0 or targets.shape[0] != rows:
        return [(end - start) / rows for start, end in bounds], "their rows"
    with torch.no_grad():
        if is_shifted(module) and len(targets.shape) > 1:
            targets = targets[:, 1:]
        valid = (targets >= 0).flatten(1).sum(1) if len(targets.shape) > 1 else targets >= 0
        counts = [valid[start:end].sum() for start, end in bounds]
        whole = valid.sum()
        return [count / whole for count in counts], "their targets that are not negative"


def loss_of(output):
    """The one scalar of an output that has a gradient; None without one."""
    named = getattr(output, "loss", None)
    if hasattr(named, "requires_grad") and named.requires_grad and len(named.shape) == 0:
        return named
    losses = [tensor for tensor in tensors_of(output)
              if tensor.requires_grad and tensor.numel() == 1 and len(tensor.shape) == 0]
    if len(losses) > 1:
        raise Refusal(f"the model returns {len(losses)} losses")
    return losses[0] if losses else None
