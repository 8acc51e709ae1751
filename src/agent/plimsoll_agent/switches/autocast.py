"""autocast=bf16|fp16: products and activations in 16 bits, with loss scaling where that is float16."""

import functools
import os
import sys
import weakref

from plimsoll_agent.autocast import name_of
from plimsoll_agent.places import is_own
from plimsoll_agent.switches.regions import Regions
from plimsoll_agent.switches.scaling import Scaling
from plimsoll_agent.switches.sharding import type_by_policy
from plimsoll_agent.switches.switch import Refusal, Switch

DTYPES = {"bf16": "bfloat16", "fp16": "float16"}


_RECOMPUTES = os.path.join("torch", "utils", "checkpoint.py")
_RESTORES = ("decorate_fwd", "decorate_bwd")  # of torch.amp.custom_fwd and custom_bwd


def _is_programs(frame):
    """Whether a region is entered by the program: not by a recomputation, nor by a switch of ours.

    frame  that of the `with`, or of what entered it
    """
    while frame is not None and os.path.basename(frame.f_code.co_filename) == "contextlib.py":
        frame = frame.f_back
    if frame is None:
        return True
    code = frame.f_code
    return not (is_own(code) or code.co_filename.endswith(_RECOMPUTES)
                or code.co_name in _RESTORES)


def floating_dtypes(module):
    """The types of its parameters, as "float32"."""
    return {name_of(parameter.dtype) for parameter in module.parameters()
            if parameter.is_floating_point()}


class Autocast(Switch):
    """Opens a region at a root's forward pass; see Regions for where it ends.

    The program's own autocast or scaler, once seen, ends it: the program has the technique, or
    another, already.
    """

    name = "autocast"

    def install(self):
        torch = self.torch
        if not hasattr(torch, "get_autocast_dtype"):
            raise Refusal("it needs PyTorch 2.4 or later")
        self._dtype = getattr(torch, DTYPES[self.value])
        self._regions = Regions(torch, self._dtype)
        self._scaling = Scaling(self.program, self) if self.value == "fp16" else None
        self._is_off = False
        self._devices = set()
        self._policies = weakref.WeakKeyDictionary()  # {root: type that FSDP casts weights to}
        self._watch_own_regions()
        self._watch_own_scaler()
        self._watch_forbidden()
        self._watch_loaders()
        self.program.around_forward(self._forward)
        self.program.around_backward(self._backward)
        self.program.on_step(before=self._before_step)
        self.entry.waits("no module with parameters was called outside of a compiled function")

    # ---- the program's own -----------------------------------------------------------------------

    def _watch_own_regions(self):
        """Stands before autocast.__enter__: the program's, within one of ours.

        TorchScript looks names up in what stands there: see plimsoll_agent.autocast.
        """
        mode = self.torch.amp.autocast_mode.autocast
        enter = mode.__enter__

        def watched(torch, note):
            @functools.wraps(enter)
            def __enter__(own):
                note(torch, own)
                return enter(own)
            return __enter__

        mode.__enter__ = watched(self.torch, self._entered)

    def _entered(self, torch, mode):
        if self._is_off or self._regions.is_entering or self.program.is_in_backward():
            return
        dtype = getattr(mode, "fast_dtype", None)
        device = getattr(mode, "device", None)
        if (getattr(mode, "_enabled", False) and dtype in (torch.bfloat16, torch.float16)
                and device in self._regions.open_here() and _is_programs(sys._getframe(2))):
            self._has_own(dtype)

    def _has_own(self, dtype):
        name = name_of(dtype)
        if dtype == self._dtype:
            self.end("no_effect", f"the program enters torch.autocast in {name} itself")
        else:
            self.end("refuse", f"the program enters torch.autocast in {name} itself")

    def _watch_own_scaler(self):
        scaler = getattr(self.torch.amp, "GradScaler", None)
        if scaler is None:
            return
        original = scaler.scale

        @functools.wraps(original)
        def scale(own, outputs):
            if own.is_enabled() and not self._is_off and self._scaling is not None:
                self.end("refuse", "the program scales its loss with a GradScaler itself")
            return original(own, outputs)

        scaler.scale = scale

    def _watch_forbidden(self):
        """The one loss that PyTorch ends a program for, under autocast on a device."""
        functional = self.torch.nn.functional
        original = functional.binary_cross_entropy

        @functools.wraps(original)
        def binary_cross_entropy(given, target, *args, **kwargs):
            device = given.device.type
            if self._is_off or device == "cpu" or device not in self._regions.open_here():
                return original(given, target, *args, **kwargs)
            self.end("refuse", "PyTorch does not compute binary_cross_entropy (BCELoss) under "
                               "autocast: binary_cross_entropy_with_logits is for that")
            with self.torch.autocast(device, enabled=False):
                return original(given.float(), target.float(), *args, **kwargs)

        functional.binary_cross_entropy = binary_cross_entropy

    def end(self, state, text):
        """The program goes on without it."""
        self._is_off = True
        if self._scaling is not None:
            self._scaling.end()
        if not self.program.is_in_forward():
            self._regions.close()
        getattr(self.entry, state)(text)

    # ---- the seams -------------------------------------------------------------------------------

    def _watch_loaders(self):
        from torch.utils.data import dataloader

        kind = dataloader._BaseDataLoaderIter
        following = kind.__next__

        @functools.wraps(following)
        def __next__(own):
            self._regions.close_evaluations()
            return following(own)

        kind.__next__ = __next__

    def _forward(self, call, module, args, kwargs):
        if not self._is_off:
            self.program.guarded(self.entry, self._open, self.failed)(module)
        try:
            return call(module, args, kwargs)
        finally:
            if self._is_off:
                self._regions.close()

    def _open(self, module):
        device = next(module.parameters()).device.type
        own = (self.torch.is_autocast_enabled(device)
               and device not in self._regions.open_here())
        if own:  # in a backward pass: a forward pass that is run again, as it was
            if not self.program.is_in_backward():
                self._has_own(self.torch.get_autocast_dtype(device))
            return
        dtypes = floating_dtypes(module)
        if device == "meta" or not dtypes:
            return
        if dtypes <= {"bfloat16", "float16"}:
            self.entry.waits(f"the weights of {type(module).__name__} are "
                             f"{' and '.join(sorted(dtypes))} already")
            return
        if self._scaling is not None:
            self._scaling.meet(module)
        if self._is_by_policy(module):
            return
        self._regions.open(device)
        self._devices.add(device)

    def _is_by_policy(self, module):
        """FSDP computes in 16 bits already: True, and it is over."""
        if module not in self._policies:
            self._policies[module] = type_by_policy(module)
        dtype = self._policies[module]
        if dtype not in (self.torch.bfloat16, self.torch.float16):
            return False
        self.end("no_effect" if dtype == self._dtype else "refuse",
                 f"FSDP computes in {name_of(dtype)} already, by its policy of mixed precision")
        return True

    def failed(self, *_):
        """A Refusal, or an error of ours."""
        self._is_off = True
        if self._scaling is not None:
            self._scaling.end()
        self._regions.close()

    def _backward(self, call, args, kwargs):
        if not self.program.is_in_forward():
            self._regions.close()
        if self._scaling is None or self._is_off:
            return call(args, kwargs)
        return self._scaling.backward(call, args, kwargs)

    def _before_step(self, _optimizer):
        if not self.program.is_in_forward():
            self._regions.close()

    def settle(self):
        if self._is_off or not self._regions.opened:
            return
        passes = self._regions.opened
        text = (f"{passes} region{'s' if passes > 1 else ''} of torch.autocast in "
                f"{name_of(self._dtype)} on {' and '.join(sorted(self._devices))}, each around a "
                "forward pass and its loss")
        if self._scaling is not None:
            text += f"; {self._scaling.evidence()}"
        self.entry.applied(text)
