"""fused: the optimizer steps in one kernel, which needs no temporaries."""

import functools

from plimsoll_agent import importing
from plimsoll_agent.switches.switch import Refusal
from plimsoll_agent.switches.stepping import Stepping, devices_of, name_of


# Lightning's precision of 16 bits, under both of its names.
_LIGHTNING = ("lightning.pytorch.plugins.precision.amp", "pytorch_lightning.plugins.precision.amp")


def _devices_with_fused_kernels():
    try:
        from torch.utils._foreach_utils import _get_fused_kernels_supported_devices
    except ImportError:
        return ["cuda"]
    return _get_fused_kernels_supported_devices()


class Fused(Stepping):
    """"fused" of every group of every optimizer is True.

    A gradient scaler leaves unscaling to fused Adam and SGD, which it knows by an attribute that
    their constructors set.
    """

    name = "fused"

    def install(self):
        super().install()
        for module in _LIGHTNING:
            importing.when_imported(module, self._watch_clipping)

    def _watch_clipping(self, module, _seconds):
        kind = module.MixedPrecision
        original = kind.clip_gradients

        @functools.wraps(original)
        def clip_gradients(own, optimizer, clip_val=0.0, *args, **kwargs):
            if clip_val and optimizer in self.before and self.verdict(optimizer) is None:
                self._restore(optimizer)
                self.entry.refuse("Lightning clips gradients here, which under mixed precision it "
                                  "does not do with a fused optimizer")
            return original(own, optimizer, clip_val, *args, **kwargs)

        kind.clip_gradients = clip_gradients

    def check(self, optimizer):
        kind = name_of(optimizer)
        defaults = optimizer.defaults
        if "fused" not in defaults:
            raise Refusal(f"{kind} has no fused kernel")
        if defaults.get("differentiable"):
            raise Refusal(f"{kind} was made with differentiable=True, which excludes fused=True")
        tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        if not all(tensor.is_floating_point() for tensor in tensors):
            raise Refusal("a fused kernel needs parameters of real floating-point types")
        if any(tensor.grad is not None and tensor.grad.is_sparse for tensor in tensors):
            raise Refusal("a fused kernel needs dense gradients, and some are sparse")
        missing = devices_of(optimizer.param_groups) - set(_devices_with_fused_kernels())
        if isinstance(optimizer, self.torch.optim.Adagrad):
            missing |= devices_of(optimizer.param_groups) - {"cpu"}
        if missing:
            raise Refusal(f"{kind} has no fused kernel on {', '.join(sorted(missing))}")

    def wanted(self, group):
        return {"fused": True, "foreach": None}

    def changed(self, optimizer):
        if isinstance(optimizer, (self.torch.optim.Adam, self.torch.optim.SGD)):
            optimizer._step_supports_amp_scaling = True

    def put_back(self, optimizer):
        if not any(group.get("fused") for group in optimizer.param_groups):
            optimizer.__dict__.pop("_step_supports_amp_scaling", None)

    def verdict(self, optimizer):
        if all(was.get("fused") for was in self.before[optimizer]):
            return "the program's optimizer is fused already"
        return None

    def evidence(self, optimizer):
        return f"{name_of(optimizer)} steps with fused=True"
