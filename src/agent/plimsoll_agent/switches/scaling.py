"""Loss scaling in float16, by PyTorch's own GradScaler, in a program that has none.

    loss.backward()     gradients begin at the scale; right after it they are divided by it, so that
                        what the program does next (clipping, printing) finds them as they are
    optimizer.step()    left out where a gradient is not finite
                        then the scale is halved, or doubled after 2000 steps

Outside of a backward pass no gradient is ever scaled. Where a second one is to add to those of the
first, they are multiplied by the scale again, which is a power of two: exact in float32.
"""

import collections
import functools
import sys
import weakref

from plimsoll_agent.switches.sharding import SHARDED, module_of
from plimsoll_agent.switches.switch import Refusal


def _closure_of(args, kwargs):
    """That of a call of step(); None without one."""
    return kwargs.get("closure", args[0] if args else None)


class Rest:
    """Parameters that no optimizer has, for GradScaler.unscale_()."""

    def __init__(self, parameters):
        self.param_groups = [{"params": parameters}]


class Scaling:
    """Of one process.

    program  the Program
    owner    the switch, whose entry has the reason should this be impossible
    """

    def __init__(self, program, owner):
        if not hasattr(program.torch.amp, "GradScaler"):
            raise Refusal("it needs torch.amp.GradScaler, which PyTorch has since 2.3")
        self._program = program
        self._torch = program.torch
        self._owner = owner
        self._states = sys.modules[program.torch.amp.GradScaler.__module__].OptState
        self._optimizers = weakref.WeakSet()
        self._roots = weakref.WeakSet()
        self._scaler = None
        self._rest = None  # what the last backward pass unscaled beside the optimizers
        self._stepping = None
        self._has_stepped = False
        self._has_run = False
        self._is_off = False
        self.backwards = 0
        self.steps = 0
        self.skipped = 0
        self._watch_optimizers()

    def end(self):
        self._is_off = True

    def evidence(self):
        return (f"the loss was scaled in {self.backwards} backward passes, {self.skipped} of "
                f"{self.steps} steps were left out for an overflow")

    # ---- what there is ---------------------------------------------------------------------------

    def meet(self, module):
        """A root is about to be called."""
        if module in self._roots:
            return
        if module_of(module, SHARDED) is not None:
            raise Refusal("gradients are sharded: overflow on one rank would have to stop all")
        if any(parameter.dtype is self._torch.float16 for parameter in module.parameters()):
            raise Refusal("some weights are float16: PyTorch does not unscale such gradients")
        self._roots.add(module)

    def _watch_optimizers(self):
        kind = self._torch.optim.Optimizer
        original = kind.__init__

        @functools.wraps(original)
        def __init__(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            if self._is_off:
                return
            if type(optimizer).__name__ == "LBFGS":
                self._owner.end("refuse", "LBFGS runs several backward passes in a step: none of "
                                "them can be left out")
            else:
                self._optimizers.add(optimizer)
                self._guard_steps(type(optimizer))

        kind.__init__ = __init__

    def _guard_steps(self, kind):
        original = kind.__dict__.get("step")
        if original is None or getattr(original, "is_scaled", False):
            return

        @functools.wraps(original)
        def step(optimizer, *args, **kwargs):
            if self._stepping is optimizer:
                self._has_run = True
            elif not self._is_off and (self._scaler is not None
                                       or _closure_of(args, kwargs) is not None):
                return self._step(optimizer, args, kwargs)
            return original(optimizer, *args, **kwargs)

        step.is_scaled = True
        kind.step = step

    # ---- backward --------------------------------------------------------------------------------

    def backward(self, call, args, kwargs):
        """A call of the engine; see Program.around_backward.

        Gradients of one within a forward pass, for a piece of the batch, stay scaled: they are
        divided by what came, or become a part of the program's own pass.
        """
        ready = self._program.guarded(self._owner.entry, self._scaled,
                                      self._owner.failed)(args, kwargs)
        if ready is None:
            return call(args, kwargs)
        result = call(ready, kwargs)
        if not self._program.is_in_forward():
            self._unscale()
        return result

    def _scaled(self, args, kwargs):
        """Its arguments with scaled gradients; None where it does not fill .grad."""
        if not kwargs.get("accumulate_grad"):
            return None
        if not self._optimizers:
            raise Refusal("no optimizer of torch.optim was made before the first backward pass: "
                          "there would be no step to leave out on overflow")
        if self._scaler is None:
            device = args[0][0].device
            self._scaler = self._torch.amp.GradScaler(device.type)
            self._scaler._lazy_init_scale_growth_tracker(device)
        if self._has_stepped:
            self._update()
        if any(getattr(parameter, "_post_accumulate_grad_hooks", None)
               for optimizer in list(self._optimizers) for group in optimizer.param_groups
               for parameter in group["params"]):
            raise Refusal("gradients are used within the backward pass, where they are scaled")
        scale = self._scaler._scale
        if not self._program.is_in_forward():
            self._multiply(scale)
            self.backwards += 1
        return (args[0], tuple(None if gradient is None else gradient * scale.to(gradient)
                               for gradient in args[1]), *args[2:])

    def _groups(self):
        """Optimizers, and what the roots have beside them."""
        optimizers = list(self._optimizers)
        known = {id(parameter) for optimizer in optimizers for group in optimizer.param_groups
                 for parameter in group["params"]}
        rest = [parameter for root in list(self._roots) for parameter in root.parameters()
                if parameter.grad is not None and id(parameter) not in known]
        return optimizers, list({id(parameter): parameter for parameter in rest}.values())

    def _multiply(self, scale):
        """What earlier passes left, to be added to."""
        optimizers, rest = self._groups()
        alike = collections.defaultdict(list)
        for parameter in rest + [parameter for optimizer in optimizers
                                 for group in optimizer.param_groups
                                 for parameter in group["params"]]:
            gradient = parameter.grad
            if gradient is not None:
                alike[gradient.device, gradient.dtype, gradient.layout].append(gradient)
        with self._torch.no_grad():
            for (device, _, layout), gradients in alike.items():
                if layout is self._torch.strided:
                    self._torch._foreach_mul_(gradients, scale.to(device))
                else:
                    for gradient in gradients:
                        gradient.mul_(scale.to(device))

    def _unscale(self):
        optimizers, rest = self._groups()
        states = self._scaler._per_optimizer_states
        self._rest = Rest(rest) if rest else None
        for owner in optimizers + ([self._rest] if rest else []):
            has_some = any(parameter.grad is not None for group in owner.param_groups
                           for parameter in group["params"])
            states.pop(id(owner), None)  # an earlier pass of the same step
            if has_some:
                self._scaler.unscale_(owner)

    # ---- steps -----------------------------------------------------------------------------------

    def _step(self, optimizer, args, kwargs):
        """In the place of optimizer.step()."""
        closure = _closure_of(args, kwargs)
        loss = None
        if closure is not None:
            with self._torch.enable_grad():
                loss = closure()
            if self._is_off or self._scaler is None:  # the first backward pass was in it
                self._stepping = optimizer
                try:
                    optimizer.step()
                finally:
                    self._stepping = None
                return loss
        own = self._scaler._per_optimizer_states[id(optimizer)]
        if not own["found_inf_per_device"] and self._rest is not None:
            own.update(self._scaler._per_optimizer_states[id(self._rest)])  # it steps copies
        self._stepping, self._has_run = optimizer, False
        try:
            if own["stage"] is self._states.UNSCALED and own["found_inf_per_device"]:
                result = self._scaler.step(optimizer)
                self.steps += 1
                self.skipped += not self._has_run
                self._has_stepped = True
            else:
                result = optimizer.step()
        finally:
            self._stepping = None
        return result if closure is None else loss

    def _update(self):
        """After a step, before the next backward pass."""
        states = self._scaler._per_optimizer_states
        for key, state in list(states.items()):
            if state["stage"] is not self._states.STEPPED:
                del states[key]
        self._scaler.update()
        self._has_stepped = False
