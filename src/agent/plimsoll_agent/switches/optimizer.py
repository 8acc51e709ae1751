"""optimizer=sgd|adafactor|8bit: another optimizer in the place of the program's Adam or AdamW."""

from plimsoll_agent.switches.replacements import REPLACEMENTS
from plimsoll_agent.switches.stepping import step_owner
from plimsoll_agent.switches.switch import CHANGED, Refusal, Switch

_STATES = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}  # of Adam
_KEPT = "_plimsoll_kept"  # options of the class that was wanted


def _stand_in(kind, asked, replacement, left_out):
    """A class that works as `kind` and passes for `asked`, which schedulers and frameworks know.

    left_out()  a checkpoint has Adam's states, which are of no use to it
    """

    def add_param_group(optimizer, param_group):
        if isinstance(param_group, dict):
            param_group = replacement.group(dict(param_group))
        kind.add_param_group(optimizer, param_group)
        for key, value in optimizer.__dict__[_KEPT].items():
            optimizer.param_groups[-1].setdefault(key, value)

    def load_state_dict(optimizer, state_dict):
        states = state_dict.get("state", {}).values()
        if any(_STATES & set(state) for state in states if isinstance(state, dict)):
            groups = [{**optimizer.defaults, **replacement.group(dict(group))}
                      for group in state_dict["param_groups"]]
            state_dict = {**state_dict, "state": {}, "param_groups": groups}
            left_out()
        kind.load_state_dict(optimizer, state_dict)

    names = {"__module__": asked.__module__, "__qualname__": asked.__qualname__,
             "__doc__": kind.__doc__, "__class__": property(lambda _: asked),
             "plimsoll_name": replacement.name,
             "add_param_group": add_param_group, "load_state_dict": load_state_dict}
    if not replacement.knows_scalers:
        # Adam's constructor sets it for fused=True; a scaler would leave unscaling to the step.
        names["_step_supports_amp_scaling"] = property(lambda _: False, lambda _, __: None)
    made = type(asked.__name__, (kind,), names)
    if not getattr(made.step, "hooked", False):
        # PyTorch puts hooks around the step of an optimizer's __class__, which is the other one.
        made.step = kind.profile_hook_step(made.step)
        made.step.hooked = True
    return made


class OtherOptimizer(Switch):
    """While the constructor of Adam makes its base, it becomes the other one.

    Parameters, groups, learning rates and weight decay are the program's. `isinstance` goes on to
    find an Adam.
    """

    name = "optimizer"

    def install(self):
        self._replacement = REPLACEMENTS[self.value](self.torch)
        self._kind = None  # not imported before the program is ready for it
        self._stand_ins = {}
        self.program.around_optimizer(self._make)
        self.entry.waits("the program made neither an Adam nor an AdamW of PyTorch")

    def _make(self, call, optimizer, params, defaults):
        if type(optimizer) in self._stand_ins.values():
            call(optimizer, params, defaults)
            return
        before = dict(optimizer.__dict__), type(optimizer)

        def as_asked(*_):
            optimizer.__dict__.clear()
            optimizer.__dict__.update(before[0])
            object.__setattr__(optimizer, "__class__", before[1])
            call(optimizer, params, defaults)

        self.program.guarded(self.entry, self._replace, as_asked)(optimizer, params, defaults)

    def _replace(self, optimizer, params, defaults):
        asked = type(optimizer)
        self._kind = self._kind or self._replacement.kind()
        self._check(asked, params, defaults)
        place = self.program.place()
        if asked not in self._stand_ins:
            self._stand_ins[asked] = _stand_in(
                self._kind, asked, self._replacement, lambda: self.entry.relabel(
                    CHANGED, "states of Adam in the checkpoint were left out: it begins anew"))
        options = self._replacement.options(defaults)
        optimizer.__dict__[_KEPT] = {"betas": defaults["betas"]}  # of cycles of momentum
        object.__setattr__(optimizer, "__class__", self._stand_ins[asked])
        self._kind.__init__(optimizer, params, **options)
        optimizer.defaults.setdefault("betas", defaults["betas"])
        if place is not None:
            self.entry.place("optimizer", *place)
        self.entry.facts.update({"was": asked.__name__, "class": self._replacement.name,
                                 "lr": float(defaults["lr"]),
                                 "weight_decay": float(defaults["weight_decay"])})
        self.entry.applied(f"{self._replacement.name} in the place of {asked.__name__}, with its "
                           f"learning rate of {float(defaults['lr']):g}"
                           f"{self._replacement.remark}")

    def _check(self, asked, params, defaults):
        optim = self.torch.optim
        if asked is self._kind:
            raise Refusal(f"the program's optimizer is {asked.__name__} already")
        if not issubclass(asked, (optim.Adam, optim.AdamW)):
            raise Refusal(f"the program's optimizer is {asked.__module__}.{asked.__name__}: only "
                          "Adam and AdamW of PyTorch are replaced")
        own = step_owner(asked)
        if own not in (optim.Adam, optim.AdamW):
            raise Refusal(f"{asked.__name__} has a step of its own")
        tensors = [tensor for entry in params
                   for tensor in (entry["params"] if isinstance(entry, dict) else [entry])]
        tensors = [tensor[1] if isinstance(tensor, tuple) else tensor for tensor in tensors]
        self._replacement.check(defaults, tensors)
