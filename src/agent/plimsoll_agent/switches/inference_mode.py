"""inference_mode: forward passes of an evaluation keep nothing for a backward pass.

That no backward pass will follow cannot be known at the call. So nothing is kept, and there is a
way back: torch.utils.checkpoint around the whole root. Should a backward pass come after all, the
forward pass is run again in it, with the same random numbers, and calls from that place are left
alone from then on.
"""

import weakref

from plimsoll_agent import checkpointing
from plimsoll_agent.places import callers_frame
from plimsoll_agent.switches.compiling import compiled_within, tracing_test
from plimsoll_agent.switches.functional import Lent, transforming_test
from plimsoll_agent.switches.switch import Switch

DEPTH_MAX = 16  # frames that make a place of calls
WORDS_MAX = 3


class Inputs:
    """Of a forward pass that kept nothing else.

    An output that the program holds on to, a loss say, holds them too: they go to the host when
    training goes on.
    """

    def __init__(self, torch, args, kwargs):
        self._torch = torch
        self._given = args, kwargs
        self._devices = {}  # {id of a tensor on the host: its device before}

    def _each(self, value, change):
        if isinstance(value, self._torch.Tensor):
            return change(value)
        if type(value) in (list, tuple):
            return type(value)(self._each(one, change) for one in value)
        if type(value) is dict:
            return {key: self._each(one, change) for key, one in value.items()}
        return value

    def leave(self):
        def change(tensor):
            if tensor.device.type == "cpu" or self._torch.is_inference(tensor):
                return tensor
            moved = tensor.detach().to("cpu")
            self._devices[id(moved)] = tensor.device
            return moved

        self._given = self._each(self._given, change)

    def get(self):
        return self._each(self._given, lambda tensor: tensor.to(
            self._devices.get(id(tensor), tensor.device)))


class InferenceMode(Switch):
    """At roots that are called with gradients on: those in eval mode, from their first call; those
    in training mode at a place that is not one of training, once there is such a place, or as long
    as the program has made no optimizer.
    """

    name = "inference_mode"

    def install(self):
        self._training_sites = set()
        self._since_backward = set()  # sites of calls that kept all
        self._kinds = weakref.WeakKeyDictionary()
        self._kept = weakref.WeakSet()  # Inputs
        self._forgotten = 0
        self._came_back = 0
        self._already = 0
        self._compiled = 0
        self._has_optimizer = False
        self._is_transforming = transforming_test(self.torch)
        self.program.around_optimizer(self._made)
        self.program.around_forward(self._forward)
        self.program.around_backward(self._backward)
        self.entry.waits("no module was called for an evaluation")

    def _site(self):
        """The place of the call with those that led to it, without PyTorch's."""
        frame, found = callers_frame(), []
        while frame is not None and len(found) < DEPTH_MAX:
            code = frame.f_code
            if not self.program.places.is_torchs(code) and not self.program.places.is_own(code):
                found.append((code, frame.f_lasti))
            frame = frame.f_back
        return tuple(found)

    def _made(self, call, optimizer, params, defaults):
        self._has_optimizer = True
        call(optimizer, params, defaults)

    def _kind(self, module):
        """(a part of it is compiled, it has buffers, it has running statistics)."""
        if module not in self._kinds:
            compiled = compiled_within(module) is not None
            has_buffers = next(module.buffers(), None) is not None
            has_statistics = any(hasattr(one, "running_mean") for one in module.modules())
            self._kinds[module] = compiled, has_buffers, has_statistics
        return self._kinds[module]

    def _may_train(self, module):
        """In training mode: this may be the forward pass of a step."""
        _, has_buffers, has_statistics = self._kind(module)
        if self._training_sites:
            return has_buffers
        return self._has_optimizer or has_statistics

    def _records(self, module, args, kwargs):
        """True if this call would record history, of weights only."""
        if not self.torch.is_grad_enabled():
            self._already += not module.training
            return False
        if self.program.is_in_backward() or self._is_transforming():
            return False
        tensors = [one for one in (*args, *kwargs.values())
                   if isinstance(one, self.torch.Tensor)]
        return (not tracing_test(self.torch)() and not any(one.requires_grad for one in tensors)
                and any(one.requires_grad for one in module.parameters()))

    def _forward(self, call, module, args, kwargs):
        if not self._records(module, args, kwargs):
            return call(module, args, kwargs)
        site = self._site()
        is_compiled = self._kind(module)[0]
        if site in self._training_sites:
            for inputs in list(self._kept):
                inputs.leave()
            return call(module, args, kwargs)
        if is_compiled:
            self._compiled += not module.training
            return call(module, args, kwargs)
        if module.training and self._may_train(module):
            self._since_backward.add(site)
            return call(module, args, kwargs)
        return self._forget(call, module, args, kwargs, site)

    def _forget(self, call, module, args, kwargs, site):
        from torch.utils.checkpoint import checkpoint

        runs = 0
        inputs = Inputs(self.torch, args, kwargs)
        lent = Lent(module)
        self._kept.add(inputs)

        def run(_device):
            nonlocal runs
            runs += 1
            if runs == 2:
                self._came_back += 1
                checkpointing.not_a_block("recomputed")
                self._training_sites.add(site)
            with lent:
                return call(module, *inputs.get())

        place = self.program.place()
        if place is not None:
            self.entry.place("evaluation", *place)
        self._forgotten += 1
        checkpointing.not_a_block("calls")
        device = self.torch.empty(0, device=next(module.parameters()).device)
        return checkpoint(run, device, use_reentrant=False)  # random numbers of that device

    def _backward(self, call, args, kwargs):
        self._training_sites |= self._since_backward
        self._since_backward.clear()
        return call(args, kwargs)

    def settle(self):
        passes, back = self._forgotten, self._came_back
        places = [f"{one['file']}:{one['line']}" for one in self.entry.places[:WORDS_MAX]]
        if passes > back:
            text = (f"{passes - back} forward pass{'es' if passes - back > 1 else ''} with "
                    f"gradients on kept nothing for a backward pass, at {', '.join(places)}")
            if back:
                text += f"; {back} more were run again, since a backward pass came after all"
            self.entry.applied(text)
        elif back:
            self.entry.no_effect("evaluation runs without gradients already" if self._already else
                                 "a backward pass follows each forward pass")
        elif self._compiled:
            self.entry.refuse("the model that is evaluated is compiled")
        elif self._already:
            self.entry.no_effect("evaluation runs without gradients already")
