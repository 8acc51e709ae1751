"""Logits that are not computed until an operation needs them whole: a tensor that stands for
hidden @ weight.T, and is taken apart by a loss.

    head(hidden) ──► LazyLogits ── float(), view(), [..., :-1, :] ──► LazyLogits
                         ├── cross_entropy() ──► pieces, each recomputed in the backward pass
                         └── any other operation ──► the plain logits
"""

import functools
import math

MOST_PIECES = 32
LEAST_ROWS = 128  # of a piece, where the number of pieces is ours


def pieces_for(rows, width, classes):
    """As many that a piece's logits are about as large as the hidden states."""
    wanted = 1 << max(1, math.ceil(math.log2(max(2.0, classes / width))))
    return max(1, min(wanted, MOST_PIECES, rows // LEAST_ROWS))


class Source:
    """The product that is put off: weights of the head as its call found them, and the types that
    it computes in.

    watch  of the switch: made_whole(name of the operation, has_grad, is_late), pieced(count)
    """

    def __init__(self, torch, head, hidden, watch):
        self.torch = torch
        self.weight, self.bias = head.weight, head.bias
        self._version = self.weight._version
        self.kind = hidden.device.type
        self.has_autocast = torch.is_autocast_enabled(self.kind)
        self.dtype = torch.get_autocast_dtype(self.kind)
        self.watch = watch

    def is_late(self):
        """The weight has changed since, as by a step."""
        return self.weight._version != self._version

    def product(self, hidden):
        torch = self.torch
        with torch.autocast(self.kind, dtype=self.dtype, enabled=self.has_autocast):
            return torch.nn.functional.linear(hidden, self.weight, self.bias)

    def product_dtype(self, hidden):
        return self.dtype if self.has_autocast else hidden.dtype


def make_class(torch):
    """LazyLogits over this torch, and cross_entropy() for one."""
    functional = torch.nn.functional
    tensor = torch.Tensor
    off = torch._C.DisableTorchFunctionSubclass

    class LazyLogits(tensor):
        """steps: functions of logits, elementwise, in their order; class_dim: 1 once transposed."""

        @staticmethod
        def __new__(cls, source, hidden, steps, dtype, class_dim=-1):
            classes = source.weight.shape[0]
            shape = [*hidden.shape[:-1], classes]
            if class_dim == 1:
                shape = [shape[0], classes, *shape[1:-1]]
            return tensor._make_wrapper_subclass(cls, shape, dtype=dtype, device=hidden.device)

        def __init__(self, source, hidden, steps, dtype, class_dim=-1):
            self.source = source
            self.hidden = hidden
            self.steps = steps
            self.kind = dtype
            self.class_dim = class_dim
            self.plain = None

        def with_hidden(self, hidden):
            return LazyLogits(self.source, hidden, self.steps, self.kind)

        def with_step(self, step, dtype=None):
            return LazyLogits(self.source, self.hidden, [*self.steps, step], dtype or self.kind,
                              self.class_dim)

        def logits_of(self, hidden):
            logits = self.source.product(hidden)
            for step in self.steps:
                logits = step(logits)
            return logits

        def whole(self, name):
            if self.plain is not None and (self.plain.requires_grad or not
                                           torch.is_grad_enabled()):
                return self.plain
            self.source.watch.made_whole(name, torch.is_grad_enabled(), self.source.is_late())
            logits = self.logits_of(self.hidden)
            if self.class_dim == 1:
                logits = logits.movedim(-1, 1)
            if torch.is_grad_enabled():
                self.plain = logits
            return logits

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if function in DESCRIBES:
                with off():
                    return function(*args, **kwargs)
            handler = HANDLERS.get(function)
            if handler is not None and args and isinstance(args[0], cls) and \
                    args[0].plain is None:  # once whole it may have been written to
                result = handler(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            name = getattr(function, "__name__", str(function))
            if name == "__get__":
                name = getattr(getattr(function, "__self__", None), "__name__", name)

            def plain(value):
                if isinstance(value, cls):
                    return value.whole(name)
                if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
                    return type(value)(map(plain, value))
                return value

            return function(*map(plain, args),
                            **{key: plain(value) for key, value in kwargs.items()})

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            raise RuntimeError(f"plimsoll: loss=chunked cannot stand for logits in {function}")

    DESCRIBES = {getattr(tensor, name).__get__ for name in
                 ("shape", "dtype", "device", "ndim", "is_cuda", "layout", "is_sparse",
                  "is_quantized", "is_meta", "is_cpu", "is_nested", "names", "itemsize",
                  "nbytes") if hasattr(getattr(tensor, name, None), "__get__")}
    DESCRIBES |= {tensor.size, tensor.dim, tensor.numel, tensor.ndimension, tensor.__len__,
                  tensor.nelement, tensor.element_size, tensor.is_floating_point,
                  tensor.is_complex, torch.is_floating_point, torch.is_complex, torch.numel,
                  tensor.get_device, tensor.__hash__, tensor.is_contiguous}

    # ---- operations that keep it -----------------------------------------------------------------

    def shaped(lazy, *shape):
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        classes = lazy.source.weight.shape[0]
        if lazy.class_dim != -1 or not shape or not all(isinstance(one, int) for one in shape):
            return NotImplemented
        if shape[-1] == -1 and math.prod(shape[:-1]) * classes == lazy.numel():
            shape = (*shape[:-1], classes)
        if shape[-1] != classes:
            return NotImplemented
        return lazy.with_hidden(lazy.hidden.reshape(*shape[:-1], lazy.hidden.shape[-1]))

    def flattened(lazy, start_dim=0, end_dim=-1):
        if lazy.class_dim != -1 or end_dim % lazy.dim() == lazy.dim() - 1:
            return NotImplemented
        return lazy.with_hidden(lazy.hidden.flatten(start_dim, end_dim % lazy.dim()))

    def indexed(lazy, index):
        items = index if isinstance(index, tuple) else (index,)
        if lazy.class_dim != -1 or any(item is None for item in items):
            return NotImplemented
        used = sum(item.dim() if isinstance(item, tensor) and item.dtype == torch.bool else 1
                   for item in items if item is not Ellipsis)
        has_gap = any(item is Ellipsis for item in items)
        reaches = items[-1] is not Ellipsis if has_gap else used >= lazy.dim()
        whole = isinstance(items[-1], slice) and items[-1] == slice(None)
        if reaches and not whole or used > lazy.dim():
            return NotImplemented
        return lazy.with_hidden(lazy.hidden[index])

    def kept(lazy, *args, **kwargs):
        return lazy if not args and not kwargs else NotImplemented

    def typed(lazy, dtype):
        return lazy if dtype == lazy.kind else lazy.with_step(lambda one: one.to(dtype), dtype)

    def to(lazy, *args, **kwargs):
        if kwargs or len(args) != 1:
            return NotImplemented
        if isinstance(args[0], torch.dtype) and args[0].is_floating_point:
            return typed(lazy, args[0])
        if isinstance(args[0], (str, torch.device)) and lazy.device == torch.device(args[0]):
            return lazy
        return NotImplemented

    def scaled(operation):
        def handler(lazy, other, **kwargs):
            if kwargs or not isinstance(other, (int, float)):
                return NotImplemented
            return lazy.with_step(lambda one: operation(one, other))
        return handler

    def transposed(lazy, first, second):
        dims = sorted((first % lazy.dim(), second % lazy.dim()))
        if lazy.dim() != 3 or dims != [1, 2]:
            return NotImplemented
        return LazyLogits(lazy.source, lazy.hidden, lazy.steps, lazy.kind,
                          1 if lazy.class_dim == -1 else -1)

    def permuted(lazy, *dims):
        dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
        return transposed(lazy, 1, 2) if tuple(dims) == (0, 2, 1) else NotImplemented

    # ---- the loss --------------------------------------------------------------------------------

    def cross_entropy(lazy, target, weight=None, size_average=None, ignore_index=-100,
                      reduce=None, reduction="mean", label_smoothing=0.0):
        rows = math.prod(lazy.hidden.shape[:-1])
        if isinstance(target, LazyLogits) or size_average is not None or reduce is not None or \
                target.is_floating_point() or target.numel() != rows or rows == 0:
            return NotImplemented
        hidden = lazy.hidden.reshape(rows, -1)
        targets = target.reshape(-1)
        watch = lazy.source.watch
        count = watch.pieces(rows, hidden.shape[-1], lazy.source.weight.shape[0])
        is_wide = torch.finfo(lazy.kind).bits > 16 or torch.is_autocast_enabled(hidden.device.type)
        of_piece = "sum" if is_wide and reduction != "none" else "none"

        def piece(some, wanted):
            loss = functional.cross_entropy(
                lazy.logits_of(some), wanted, weight, ignore_index=ignore_index,
                reduction=of_piece, label_smoothing=label_smoothing)
            return loss if of_piece == reduction else loss.float().sum()

        parts = [torch.utils.checkpoint.checkpoint(piece, some, wanted, use_reentrant=False,
                                                   preserve_rng_state=False)
                 for some, wanted in zip(hidden.chunk(count), targets.chunk(count))]
        watch.pieced(len(parts))
        if reduction == "none":
            return torch.cat(parts).reshape(target.shape)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if reduction == "mean":
            valid = targets != ignore_index
            counted = valid.sum() if weight is None else \
                weight[targets.where(valid, targets.new_zeros(()))].where(
                    valid, weight.new_zeros(())).sum()
            total = total / counted
        return total if is_wide else total.to(lazy.kind)

    HANDLERS = {
        tensor.view: shaped, tensor.reshape: shaped, torch.reshape: shaped,
        tensor.flatten: flattened, torch.flatten: flattened, tensor.__getitem__: indexed,
        tensor.contiguous: kept, tensor.float: lambda lazy, **named: typed(lazy, torch.float32)
        if not named else NotImplemented,
        tensor.to: to, tensor.div: scaled(torch.div), torch.div: scaled(torch.div),
        tensor.__truediv__: scaled(torch.div), tensor.true_divide: scaled(torch.div),
        tensor.mul: scaled(torch.mul), torch.mul: scaled(torch.mul),
        tensor.__mul__: scaled(torch.mul), tensor.__rmul__: scaled(torch.mul),
        torch.tanh: lambda lazy: lazy.with_step(torch.tanh),
        tensor.tanh: lambda lazy: lazy.with_step(torch.tanh),
        tensor.transpose: transposed, torch.transpose: transposed,
        tensor.permute: permuted, torch.permute: permuted,
        functional.cross_entropy: cross_entropy,
        tensor.requires_grad.__get__: lambda lazy: True,
    }
    _make_whole_for_functions(torch, LazyLogits)
    return LazyLogits


def _make_whole_for_functions(torch, lazy):
    """Functions of the program's own take the plain logits: the engine passes subclasses by."""
    owner = torch.autograd.Function
    given = owner.__dict__["apply"].__func__

    @functools.wraps(given)
    def apply(cls, *args, **kwargs):
        if any(isinstance(one, lazy) for one in args):
            args = [one.whole(cls.__name__) if isinstance(one, lazy) else one for one in args]
        return given(cls, *args, **kwargs)

    owner.apply = classmethod(apply)
