"""weights=bf16: models in bfloat16, with their gradients and the states of their optimizers."""

import functools
import weakref

from plimsoll_agent.autocast import name_of
from plimsoll_agent.switches.switch import Refusal, Switch

SHARDED = {"FullyShardedDataParallel": "FSDP", "FSDPModule": "FSDP2",
           "DistributedDataParallel": "DistributedDataParallel", "DeepSpeedEngine": "DeepSpeed"}


class Weights(Switch):
    """A model is cast by its own .to(torch.bfloat16): when it moves to a device, else at its first
    call. Its parameters stay the objects that an optimizer may hold. What a root is given in other
    floating types is cast at each call.
    """

    name = "weights"

    def install(self):
        self._known = weakref.WeakSet()
        self._left = weakref.WeakSet()
        self._reasons = {}  # {class: why it was left}
        self._cast = []  # (class, bytes before)
        self._already = None
        self._is_within = False
        self._is_mixed = False
        self._optimizers = weakref.WeakSet()
        self._watch_moves()
        self._watch_optimizers()
        self.program.around_forward(self._forward)
        self.entry.waits("no module with parameters was called outside of a compiled function")

    # ---- casting ---------------------------------------------------------------------------------

    def _watch_moves(self):
        """Casts before the model goes to a device, which then never has the wide weights."""
        kind = self.torch.nn.Module
        for name in ("to", "cuda"):
            original = getattr(kind, name)

            def move(module, *args, _original=original, _name=name, **kwargs):
                if not self._is_within and self._goes_to_device(_name, args, kwargs):
                    self.program.guarded(self.entry, self._become, lambda _: None)(module)
                return _original(module, *args, **kwargs)

            setattr(kind, name, functools.wraps(original)(move))

    def _goes_to_device(self, name, args, kwargs):
        if name == "cuda":
            return True
        try:
            device = self.torch._C._nn._parse_to(*args, **kwargs)[0]
        except Exception:  # the call itself will say so
            return False
        return device is not None and device.type not in ("cpu", "meta")

    def _watch_optimizers(self):
        kind = self.torch.optim.Optimizer
        original = kind.__init__

        @functools.wraps(original)
        def __init__(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            self._optimizers.add(optimizer)

        kind.__init__ = __init__

    def _become(self, module):
        """Casts a module, once."""
        if module in self._known or module in self._left or self.entry.state == "refused":
            return
        try:
            self._check(module)
        except Refusal as refusal:
            self._left.add(module)
            if not self._cast:
                raise
            self._reasons[type(module).__name__] = refusal  # another model was cast already
            return
        self._known.add(module)
        wide = [one for one in module.parameters()
                if one.is_floating_point() and one.dtype is not self.torch.bfloat16]
        if not wide:
            self._already = type(module).__name__
            return
        size = sum(one.numel() * one.element_size() for one in wide)
        on_device = any(one.is_cuda for one in wide)
        self._is_within = True
        try:
            with self.torch.inference_mode(False), self.torch.no_grad():
                module.to(self.torch.bfloat16)
                for one in wide:
                    if one.grad is not None:
                        one.grad = None
        finally:
            self._is_within = False
        self._cast.append((type(module).__name__, size))
        if on_device and not self.torch.cuda.is_current_stream_capturing():
            self.torch.cuda.empty_cache()  # else blocks of the wide weights' sizes stay reserved

    def _check(self, module):
        for one in module.modules():
            for kind in type(one).__mro__:
                if kind.__name__ in SHARDED:
                    raise Refusal(f"{SHARDED[kind.__name__]} has taken the parameters over already")
        if getattr(module, "is_quantized", False) or getattr(module, "quantization_method", None):
            raise Refusal(f"{type(module).__name__} is quantized")
        for one in module.parameters():
            kind = type(one).__name__
            if one.layout is not self.torch.strided:
                raise Refusal("some weights are sparse")
            if kind not in ("Parameter", "Buffer", "UninitializedParameter"):
                raise Refusal(f"some weights are of the class {kind}, which has a format of its own")
            if kind == "UninitializedParameter":
                raise Refusal("some weights have no shape until the first call")
            if not one.is_floating_point():
                raise Refusal(f"some weights are {name_of(one.dtype)}: quantized, or complex")
            if one.dtype is self.torch.float64:
                raise Refusal("some weights are float64")
        for optimizer in list(self._optimizers):
            held = {id(parameter) for parameter in module.parameters()}
            if any(id(parameter) in held and state for parameter, state in
                   list(optimizer.state.items())):
                raise Refusal(f"{type(optimizer).__name__} has states of wide weights already")

    # ---- calls -----------------------------------------------------------------------------------

    def _forward(self, call, module, args, kwargs):
        self.program.guarded(self.entry, self._become, lambda _: None)(module)
        if module in self._known:
            self._look_at_autocast(module)
            args, kwargs = self._narrow(args), self._narrow(kwargs)
        return call(module, args, kwargs)

    def _look_at_autocast(self, module):
        """Under the program's own in float16 some layers get inputs that their weights reject."""
        torch = self.torch
        device = next(module.parameters()).device.type
        if torch.is_autocast_enabled(device) and \
                torch.get_autocast_dtype(device) is torch.float16:
            self._is_mixed = True

    def _narrow(self, value):
        """Tensors of floating types in bfloat16, also within tuples, lists and dictionaries."""
        if isinstance(value, self.torch.Tensor):
            is_wide = value.dtype in (self.torch.float32, self.torch.float16)
            return value.to(self.torch.bfloat16) if is_wide else value
        if type(value) in (list, tuple):
            return type(value)(self._narrow(one) for one in value)
        if type(value) is dict:
            return {key: self._narrow(one) for key, one in value.items()}
        return value

    def settle(self):
        if self._cast:
            names = ", ".join(dict.fromkeys(name for name, _ in self._cast))
            size = sum(size for _, size in self._cast)
            left = "".join(f"; {name} was left: {why}" for name, why in self._reasons.items())
            mixed = "; the program calls them under torch.autocast in float16, and layers that " \
                "autocast leaves out, as normalisations, may fail" if self._is_mixed else ""
            self.entry.applied(f"{names}: {size / (1 << 20):.1f} MiB of weights became bfloat16"
                               + left + mixed)
        elif self._already is not None:
            self.entry.no_effect(f"the weights of {self._already} are bfloat16 already")
