"""offload=optimizer: the states of the optimizer are on the host, and it steps there."""

import collections
import weakref

from plimsoll_agent.switches.gradients_away import GradientsAway
from plimsoll_agent.switches.host_tensors import HostTensors, steps_blindly
from plimsoll_agent.switches.sharding import is_sharded
from plimsoll_agent.switches.stepping import devices_of, name_of
from plimsoll_agent.switches.switch import Refusal, Switch

# Packages whose optimizers work on the device only, or have the technique themselves.
_OTHERS = {
    "deepspeed": "DeepSpeed has it in its configuration: zero_optimization.offload_optimizer",
    "bitsandbytes": "the optimizer of bitsandbytes steps on the device; it has paged ones",
    "apex": "the optimizer of apex steps on the device",
}

_HOST = ("cpu", "meta")


class HostStep:
    """One optimizer. While it steps its groups and states are of tensors on the host.

    Weights are copied there before each step and not kept from the last: a program may change them
    between two steps. Groups are the program's own, whose learning rates schedulers set.
    """

    def __init__(self, torch, optimizer, away):
        """away: the GradientsAway."""
        self._torch = torch
        self._gradients_away = away
        self._optimizer = weakref.ref(optimizer)
        self._host = HostTensors(torch, steps_blindly(optimizer))
        self._copies = {}  # {parameter: its copy on the host}
        self._away = None  # (parameters and options of groups, states) while it is on the host
        self.host_bytes = 0

    def enter(self):
        optimizer = self._optimizer()
        self._gradients_away.bring_back()
        with self._torch.no_grad():
            groups = [{name: group[name] for name in ("params", "fused") if name in group}
                      for group in optimizer.param_groups]
            self._copies = {tensor: self._copied(tensor) for group in groups
                            for tensor in group["params"]}
            states = optimizer.state
            hosted = collections.defaultdict(dict)
            for key, state in states.items():
                copy = self._copies.get(key, key)
                hosted[copy] = self._moved(state, copy)
            self._away = groups, states
            optimizer.state = hosted
            for group in optimizer.param_groups:
                group["params"] = [self._copies[tensor] for tensor in group["params"]]
                if self._host.is_hollow and group.get("fused"):
                    group["fused"] = False  # its kernel takes tensors with values alone

    def leave(self):
        """The optimizer is the program's again, with what it has done."""
        if self._away is None:
            return
        optimizer = self._optimizer()
        (groups, states), self._away = self._away, None
        parameters = {copy: tensor for tensor, copy in self._copies.items()}
        states.clear()
        for key, state in optimizer.state.items():
            states[parameters.get(key, key)] = self._shown(state)
        optimizer.state = states
        for group, own in zip(optimizer.param_groups, groups):
            group.update(own)
        self._count(states)
        gradients = {}
        with self._torch.no_grad():
            for tensor, copy in self._copies.items():
                if copy.grad is not None:
                    self._host.copy(tensor, copy)
                    gradients[tensor], copy.grad = copy.grad, None
        self._gradients_away.take(gradients)

    def _copied(self, tensor):
        """The copy of a parameter, with its gradient, which the device frees."""
        copy = self._copies.get(tensor)
        if copy is None or (copy.shape, copy.dtype) != (tensor.shape, tensor.dtype):
            copy = self._host.out(tensor).requires_grad_(tensor.requires_grad)
        elif tensor.grad is not None:
            self._host.copy(copy, tensor)
        if tensor.grad is not None:
            copy.grad = self._host.out(tensor.grad)
            tensor.grad = None
        return copy

    def _moved(self, state, copy):
        """A state on the host, like the copy of its parameter: one of a checkpoint comes to where
        the parameter is."""
        is_hollow = isinstance(copy, self._torch.Tensor) and copy.device.type == "meta"
        for key, value in self._tensors_of(state):
            if value.device.type not in _HOST:
                state[key] = self._host.out(value)
            elif is_hollow and value.dim() > 0:
                state[key] = self._host.hollow(value)
        return state

    def _shown(self, state):
        """A state as the program may see it."""
        for key, value in self._tensors_of(state):
            state[key] = self._host.visible(value)
        return state

    def _tensors_of(self, state):
        """[name, tensor] of one parameter's state."""
        return [(key, value) for key, value in state.items()
                if isinstance(value, self._torch.Tensor)] if isinstance(state, dict) else []

    def _count(self, states):
        tensors = [value for state in states.values() for _, value in self._tensors_of(state)]
        for copy in self._copies.values():
            tensors += [copy] if copy.grad is None else [copy, copy.grad]
        total = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        self.host_bytes = max(self.host_bytes, total)


class OffloadOptimizer(Switch):
    """In the place of each step: gradients to the host, the step there, weights back."""

    name = "offload"

    def install(self):
        self._away = GradientsAway(self.torch, self.program, HostTensors(self.torch).back)
        self._hosts = weakref.WeakKeyDictionary()  # {optimizer: its HostStep; None: it cannot}
        self.program.around_step(self._step)
        self.program.around_optimizer(self._make)
        self.entry.waits("no optimizer has stepped (one under torch.compile does not count)")

    def _make(self, call, optimizer, params, defaults):
        call(optimizer, params, defaults)
        place = self.program.place()
        if place is not None:
            self.entry.place("optimizer", *place)

    def _step(self, call, optimizer, args, kwargs):
        host = self.program.guarded(self.entry, self._host_of, self._without)(optimizer)
        if host is None:
            return call(optimizer, args, kwargs)
        closure = kwargs.get("closure", args[0] if args else None)
        try:
            if closure is None:
                host.enter()
                return call(optimizer, args, kwargs)

            def on_device():
                host.leave()
                loss = closure()
                host.enter()
                return loss

            return call(optimizer, (on_device,), {})
        finally:
            host.leave()
            self.entry.facts["host_bytes"] = sum(one.host_bytes for one in self._hosts.values()
                                                 if one is not None)

    def _without(self, optimizer):
        self._hosts[optimizer] = None

    def _host_of(self, optimizer):
        if optimizer not in self._hosts:
            self._check(optimizer)
            self._hosts[optimizer] = HostStep(self.torch, optimizer, self._away)
            if devices_of(optimizer.param_groups) == {"cpu"}:
                self.entry.no_effect("the weights are on the host already")
            else:
                self.entry.applied(f"{name_of(optimizer)} steps on the host, where its states are")
        return self._hosts[optimizer]

    def _check(self, optimizer):
        kind = type(optimizer)
        for base in kind.__mro__:
            for package, reason in _OTHERS.items():
                if base.__module__.partition(".")[0] == package:
                    raise Refusal(reason)
        if isinstance(optimizer, self.torch.optim.LBFGS):
            raise Refusal("LBFGS calls the model within its step")
        for group in optimizer.param_groups:
            for option in ("capturable", "differentiable"):
                if group.get(option):
                    raise Refusal(f"{kind.__name__} was made with {option}=True: it steps on the "
                                  "device")
            for value in group.values():
                if isinstance(value, self.torch.Tensor) and value.device.type != "cpu":
                    raise Refusal("an option of the optimizer is a tensor on the device")
            if any(is_sharded(tensor) for tensor in group["params"]):
                raise Refusal("the weights are sharded: FSDP has CPUOffloadPolicy")
