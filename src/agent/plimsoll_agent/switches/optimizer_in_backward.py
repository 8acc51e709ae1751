"""optimizer=in_backward: each weight is updated as its gradient comes, which is freed at once."""

import sys
import weakref

from plimsoll_agent.switches.gradient_guard import GradientGuard
from plimsoll_agent.switches.gradients_away import GradientsAway
from plimsoll_agent.switches.host_tensors import HostTensors
from plimsoll_agent.switches.stepping import step_owner
from plimsoll_agent.switches.switch import CHANGED, UNUSED_WEIGHT, Refusal, Switch

# Functions of PyTorch and of frameworks that need all gradients at once, and what they do.
_NEEDS_ALL = {
    "clip_grad_norm_": "clips their norm", "_clip_grad_norm_": "clips their norm",
    "_clip_grad_norm": "clips their norm", "_get_grad_norm": "takes their norm",  # transformers
    "clip_grads_with_norm_": "clips their norm", "get_total_norm": "takes their norm",
    "clip_grad_value_": "clips their values",
    "_unscale_grads_": "unscales them with a GradScaler",
    "zero_grad": "clears them without a step",
}
_OPTIONS_NOT_COMPARED = ("params", "initial_lr")


class OptimizerInBackward(Switch):
    """The program's own optimizer steps, one parameter at a time, in hooks of gradients.

    Its states are where they always are, and its step() finds no gradients: hooks and schedulers
    see nothing new.

    At first nothing is updated: until the first step gradients wait on the host, and whatever the
    program does with them in between gets them back, and ends the technique, before harm is done.
    """

    name = "optimizer"

    def install(self):
        self._made = weakref.WeakSet()
        self._hooks = {}    # {parameter: its handle}
        self._groups = {}   # {parameter: index of its group}, of this backward pass
        self._waiting = {}  # {parameter: its gradient on the host}, before the first step
        self._host = HostTensors(self.torch)
        self._updated = set()  # since the last step
        self._ever = set()  # before it
        self._clears_to_zero = False
        self._is_late = False  # gradients of the last step are gone
        self._after = {}  # {parameter: its gradient on the host; None: it is gone}, of a step
        self._options = None
        self._stack = None  # of the backward pass before the first step
        self._is_off = False
        self._is_on = False  # the first step has been
        self._is_stepping = False
        self._is_passing = False  # hooks leave this backward pass alone
        self._passed = 0
        self._guard = GradientGuard(self.torch, self._is_watched, self._touched)
        self.program.around_optimizer(self._make)
        self._away = GradientsAway(self.torch, self.program, self._given_back,
                                   self.program.guarded(self.entry, self._looked, self._leave),
                                   self._cleared)
        self.program.around_backward(self._backward)
        self.program.on_step(self._before_step, self._after_step)
        self.entry.waits("no backward pass reached the parameters of an optimizer")

    def _make(self, call, optimizer, params, defaults):
        call(optimizer, params, defaults)
        self._made.add(optimizer)
        place = self.program.place()
        if place is not None:
            self.entry.place("optimizer", *place)

    # ---- the backward pass ---------------------------------------------------------------------

    def _backward(self, call, args, kwargs):
        if self._is_off or not self._made or not kwargs.get("accumulate_grad"):
            return call(args, kwargs)
        self.program.guarded(self.entry, self._begin, self._leave)(args)
        result = call(args, kwargs)
        if self._waiting or self._updated:
            self._guard.up()
        return result

    def _begin(self, args):
        self._guard.down()
        if self._waiting:
            raise Refusal("the program makes several backward passes for one step: their gradients "
                          "must be summed before a weight changes")
        if len(self._made) > 1:
            raise Refusal(f"the program has {len(self._made)} optimizers: a backward pass for one "
                          "may leave gradients to weights of another")
        optimizer = next(iter(self._made))
        if not self._is_on:
            self._check(optimizer, args)
        self._is_passing = self._is_on and (
            self._stack_now() != self._stack or bool(args[2]) or bool(args[3]))
        self._passed += self._is_passing
        if self._updated and not self._is_passing:
            raise Refusal(self._harm("makes a second backward pass for one step"))
        self._stack = self._stack or self._stack_now()
        self._options = self._options_of(optimizer)
        self._groups = {}
        for index, group in enumerate(optimizer.param_groups):
            for tensor in group["params"]:
                self._groups[tensor] = index
                if tensor.requires_grad and tensor not in self._hooks:
                    self._hooks[tensor] = tensor.register_post_accumulate_grad_hook(self._came)
        for tensor in self._hooks.keys() - self._groups.keys():  # of an optimizer that is no more
            self._hooks.pop(tensor).remove()
            self._ever.discard(tensor)

    def _check(self, optimizer, args):
        kind = type(optimizer)
        optim = self.torch.optim
        own = step_owner(kind)
        if not own.__module__.startswith("torch.optim."):
            raise Refusal(f"{kind.__module__}.{kind.__name__} has a step of its own, which may "
                          "look at several parameters")
        if own in (optim.LBFGS, optim.SparseAdam):
            raise Refusal(f"{kind.__name__} does not take one dense gradient after another")
        if any(group.get(option) for group in optimizer.param_groups
               for option in ("capturable", "differentiable")):
            raise Refusal("the optimizer was made capturable or differentiable")
        if bool(args[2]) or bool(args[3]):
            raise Refusal("the program keeps the graph for a second backward pass, which needs "
                          "the weights as they were")
        distributed = self.torch.distributed
        if distributed.is_available() and distributed.is_initialized() and \
                distributed.get_world_size() > 1:
            raise Refusal("gradients of several ranks are averaged after they have come")
        if not hasattr(self.torch.Tensor, "register_post_accumulate_grad_hook"):
            raise Refusal("PyTorch has the hooks that it needs since 2.1")

    def _came(self, tensor):
        """A gradient is complete; on a thread of the engine."""
        if not self._is_off and not self._is_passing and tensor in self._groups:
            self.program.guarded(self.entry, self._take, lambda _: self._leave())(tensor)

    def _take(self, tensor):
        if tensor.grad.is_sparse:
            raise Refusal("some gradients are sparse")
        if tensor in self._waiting or tensor in self._updated:
            raise Refusal("the gradient of a parameter comes in several parts (checkpointing with "
                          "use_reentrant=True, or a parameter of several blocks)")
        if self._is_on:
            self._update(tensor)
            return
        self._waiting[tensor] = self._host.out(tensor.grad)
        tensor.grad = None

    def _update(self, tensor):
        """The program's optimizer as if the parameter were all it had; options as they are now."""
        optimizer = next(iter(self._made))
        groups = optimizer.param_groups
        optimizer.param_groups = [{**groups[self._groups[tensor]], "params": [tensor]}]
        try:
            type(optimizer).step.__wrapped__(optimizer)  # without hooks, which are for the whole
        finally:
            optimizer.param_groups = groups
        tensor.grad = None
        self._updated.add(tensor)

    def _stack_now(self):
        """The program's lines that led here."""
        frame, found = sys._getframe(2), []
        while frame is not None:
            if self.program.places.is_users(frame.f_code):
                found.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return found

    # ---- between the backward pass and the step ------------------------------------------------

    def _is_watched(self, tensor):
        return tensor in self._waiting or tensor in self._updated

    def _touched(self, _tensor, frame):
        self.program.guarded(self.entry, self._judge, self._leave)(frame)

    def _judge(self, frame):
        """Something reads or writes a gradient that is not where it would be."""
        places = self.program.places
        if places.is_own(frame.f_code):
            return
        first, reader, names = frame.f_code, None, []
        while frame is not None:
            names.append(frame.f_code.co_name)
            if reader is None and not places.is_torchs(frame.f_code):
                reader = f"{places.short(frame)} {frame.f_code.co_name}"
            frame = frame.f_back
        if self._is_stepping and places.is_torchs(first) and \
                first.co_name in ("_init_group", "step"):
            self._settle_first()  # the step itself, after its closure
            return
        deed = next((_NEEDS_ALL[name] for name in names if name in _NEEDS_ALL), "reads them")
        if self._is_on:
            raise Refusal(self._harm(f"looks at gradients ({reader}): it {deed}"))
        raise Refusal(f"the program needs all gradients before the step ({reader}): it {deed}")

    def _settle_first(self):
        """The first step is there: what waited is applied, one parameter after another."""
        self._guard.down()
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        self._is_on = True
        self._after = waiting
        for tensor, gradient in waiting.items():
            tensor.grad = self._host.back(gradient, tensor.device)
            self._update(tensor)
        self.entry.facts["host_bytes"] = sum(one.numel() * one.element_size()
                                             for one in waiting.values())
        kind = type(next(iter(self._made))).__name__
        self.entry.facts["class"] = kind
        self.entry.applied(f"{kind} updates {len(waiting)} parameters as their gradients come")

    def _before_step(self, optimizer):
        if self._is_off or optimizer not in self._made:
            return
        self._is_stepping = True
        self._guard.down()
        self.program.guarded(self.entry, self._step, self._leave)(optimizer)

    def _step(self, optimizer):
        if self.program.has_closure:  # its backward pass comes first: see _judge()
            return
        if (self._waiting or self._updated) and self._options_of(optimizer) != self._options:
            if not self._is_on:
                raise Refusal("the program changes options of the optimizer, as the learning rate, "
                              "between the backward pass and the step")
            self.entry.relabel(CHANGED, "options that the program sets between a backward pass and "
                                        "its step come into force one step later")
        if self._clears_to_zero and self._ever - self._updated - self._waiting.keys():
            self.entry.relabel(CHANGED, UNUSED_WEIGHT)
        if self._waiting:
            self._settle_first()

    def _after_step(self, optimizer):
        if optimizer in self._made:
            self._is_stepping = False
            self._guard.down()
            self._is_late = not self._after
            after, self._after = self._after or dict.fromkeys(self._updated), {}
            self._ever |= self._updated
            self._updated.clear()
            if not self._is_off:
                self._away.take(after)

    # ---- after the step ------------------------------------------------------------------------

    def _given_back(self, gradient, device):
        return None if gradient is None else self._host.back(gradient, device)

    def _looked(self, frame):
        """Between a step and zero_grad(): in the first it is not too late."""
        places = self.program.places
        while frame is not None and not places.is_users(frame.f_code):
            frame = frame.f_back
        where = f" ({places.short(frame)} {frame.f_code.co_name})" if frame is not None else ""
        if self._is_late:
            self.entry.relabel(CHANGED, "what the program does with gradients after a step finds "
                                        "none")
        raise Refusal(f"the program needs gradients after the step, too{where}")

    def _cleared(self, set_to_none):
        self._clears_to_zero = self._clears_to_zero or not set_to_none

    def _options_of(self, optimizer):
        return [{key: value for key, value in group.items()
                 if key not in _OPTIONS_NOT_COMPARED and not isinstance(value, self.torch.Tensor)}
                for group in optimizer.param_groups]

    # ---- its end -------------------------------------------------------------------------------

    def _harm(self, deed):
        self.entry.relabel(CHANGED, "weights were updated that the program would not have updated "
                                    "yet")
        return (f"after its first steps the program {deed}; weights had been updated by then: "
                "its result is not that of the plain program, run it without")

    def _leave(self, *_):
        """The program has its gradients, and goes on as it is."""
        self._is_off = True
        self._guard.down()
        for handle in self._hooks.values():
            handle.remove()
        self._hooks = {}
        waiting, self._waiting = self._waiting, {}
        for tensor, gradient in waiting.items():
            if tensor.grad is None:
                tensor.grad = self._host.back(gradient, tensor.device)
            else:
                tensor.grad.add_(self._host.back(gradient, tensor.device))

    def settle(self):
        if self._passed and not self._is_off:
            self.entry.facts["passed"] = self._passed
