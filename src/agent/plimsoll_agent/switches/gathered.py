"""Forward and backward of each piece within the call; the loss hands the gathered gradients over.

The program's own gradient of the loss (1, a scaler's scale, one part of its own accumulation) is
known only when it calls backward. So pieces go backward with the one that came last time, which
keeps float16 in range, and gradients are multiplied by the ratio of the two, nearly always 1.
"""

import functools
import sys
import weakref

from plimsoll_agent.places import is_own
from plimsoll_agent.switches import pieces, randomness
from plimsoll_agent.switches.state import State


class Gathering:
    """Of one process.

    asked    the Asked
    is_late  outputs beside a loss were first read after a step
    """

    def __init__(self, torch, program, asked):
        self.torch = torch
        self.asked = asked
        self.seed = None  # the program's gradient of the loss, last time
        self.is_cleared_between = False  # zero_grad lies between forward and backward
        self.has_stepped = False  # since gradients were handed over
        self.clears = 0
        self.steps = 0
        self.is_late = False
        self._zeros = {}  # id of a parameter: (its gradient, version) as zero_grad left it
        self._function = _function(torch)
        self._watch_scalers()
        self._program = program
        program.around_clearing(self._clear)
        program.on_step(after=self._stepped)

    def _stepped(self, _optimizer):
        self.has_stepped = True
        self.steps += 1

    # ---- zeros ---------------------------------------------------------------------------------

    def _clear(self, call, owner, weights, set_to_none):
        call(owner, weights, set_to_none)
        self.clears += 1
        for weight in weights:
            if weight.grad is not None:
                self._zeros[id(weight)] = (weakref.ref(weight.grad), weight.grad._version)

    def is_zero(self, parameter):
        """Its gradient is as zero_grad(set_to_none=False) left it."""
        reference, version = self._zeros.get(id(parameter), (lambda: None, 0))
        return parameter.grad is not None and reference() is parameter.grad and \
            parameter.grad._version == version

    # ---- the first gradient of a loss ----------------------------------------------------------

    def _watch_scalers(self):
        """A scaler's first scale is known before its first backward pass, and each that follows.

        Not one of autocast=fp16: it scales the pieces' own backward passes.
        """
        scaler = getattr(self.torch.amp, "GradScaler", None)
        if scaler is None:
            return
        original, update = scaler.__init__, scaler.update

        @functools.wraps(original)
        def made(owner, *args, **kwargs):
            original(owner, *args, **kwargs)
            if self.seed is None and getattr(owner, "_enabled", False) and \
                    not is_own(sys._getframe(1).f_code):
                self.seed = float(getattr(owner, "_init_scale", 1.0))

        @functools.wraps(update)
        def updated(owner, *args, **kwargs):
            scale = getattr(owner, "_scale", None)
            if scale is None or self.seed is None or is_own(sys._getframe(1).f_code):
                return update(owner, *args, **kwargs)
            before = scale.clone()
            result = update(owner, *args, **kwargs)
            self.seed = self.seed * (owner._scale / before)
            return result

        scaler.__init__, scaler.update = made, updated

    # ---- one call ------------------------------------------------------------------------------

    def prepare(self, module):
        """Before the first piece: the gradients that are there are set aside."""
        return Kept(self, [parameter for parameter in module.parameters()
                           if parameter.requires_grad])

    def finish(self, batch, state, kept, first, leaves, weighing):
        """The rest of the first piece, the other pieces, and what the program gets."""
        try:
            result = self._all(batch, state, kept, first, leaves, weighing)
        except BaseException:
            kept.put_back()
            raise
        return result

    def _all(self, batch, state, kept, output, leaves, weighing):
        value = None
        gathered = []
        shape = None
        for number in range(len(batch.bounds)):
            if number > 0:
                output, leaves = batch.run(number)
            loss = pieces.loss_of(output)
            if shape is None:
                shape = _marked(output, loss)
            output = None  # the logits of a piece go with it
            weight = weighing.weigh(number, loss, batch.counts(number), batch.addresses)
            part = self._backward(kept, loss, weight)
            loss = None
            value = part if value is None else value + part
            gathered.append([leaf.grad for leaf in leaves])
        kept.take(value / weighing.total, weighing.total)
        kept.inputs = batch.gradients_of_inputs(self.torch, gathered)
        kept.batch, kept.state = batch, state
        kept.anchor = self.torch.zeros((), device=value.device, dtype=value.dtype,
                                       requires_grad=True)
        loss = self._function.apply(kept, kept.anchor, *batch.inputs)
        self.asked.waiting.add(kept)
        later = Later.maker(self, batch, state)
        return _filled(shape, loss, later)

    def _backward(self, kept, loss, weight):
        """Of one piece; returns its part of the loss."""
        torch = self.torch
        seed = 1.0 if self.seed is None else self.seed
        given = torch.full_like(loss, seed) if isinstance(seed, float) else \
            seed.to(loss.device, loss.dtype)

        def came(gradient):
            kept.came = gradient  # as techniques within may have scaled it
            return gradient * weight

        loss.register_hook(came)
        torch.clear_autocast_cache()
        with randomness.uncast(torch), self._program.within_forward():
            torch.autograd.backward(loss, given)
        kept.given = seed
        part = loss.detach() * weight
        return part if isinstance(weight, float) else \
            torch.where(weight > 0, part, torch.zeros_like(part))


class Kept:
    """Gradients of one call: those that were there, and those of its pieces.

    anchor   the leaf that its graph begins at, beside inputs
    weights  of the module
    """

    def __init__(self, gathering, weights):
        self._gathering = gathering
        self.weights = weights
        self._before = {}
        self._found = None
        self._clears = gathering.clears
        self._is_early = gathering.is_cleared_between and gathering.has_stepped
        self.came = self.given = self.value = self._total = None
        self.batch = self.state = self.anchor = None
        self.inputs = []
        for parameter in weights:
            if parameter.grad is not None and not gathering.is_zero(parameter):
                if not self._is_early:
                    self._before[parameter] = parameter.grad
                parameter.grad = None

    def put_back(self):
        """Nothing came of the call."""
        for parameter in self.weights:
            parameter.grad = self._before.get(parameter)

    def take(self, value, total):
        """All pieces went backward; value is the loss, total the sum of their weights."""
        self.value = value
        self._total = total
        self._found = [(parameter, parameter.grad) for parameter in self.weights
                       if parameter.grad is not None]
        self.put_back()

    def hand_over(self, gradient):
        """The program's backward pass has come to the loss. Returns gradients of inputs."""
        if self._found is None:
            raise RuntimeError("Trying to backward through the graph a second time: under "
                               "--with accumulate its gradients were handed over already.")
        gathering = self._gathering
        torch = gathering.torch
        ratio = gradient / self.came
        factor = ratio / self._total
        asked = gathering.asked
        wanted = set(map(id, asked.wanted(self.weights)))
        with torch.no_grad():
            found = [(weight, one.clone() if asked.is_kept else one)
                     for weight, one in self._found if id(weight) in wanted]
            self._scale([one for _, one in found], factor)
            inputs = [None if found is None else found * factor.to(found.device, found.dtype)
                      for found in self.inputs]
            if asked.is_filling:
                self._learn()
            for weight, one in found:
                asked.give(weight, one)
        if not asked.is_kept:
            self._found = self._before = None
            asked.waiting.discard(self)
        next_seed = ratio * self.given
        is_usable = torch.isfinite(next_seed) & (next_seed != 0)
        gathering.seed = torch.where(is_usable, next_seed, torch.ones_like(next_seed)).detach()
        gathering.has_stepped = False
        return inputs

    def differentiable(self, gradient):
        """For gradients of gradients: of the whole batch, with their graph. Those of inputs."""
        torch = self._gathering.torch
        asked, inputs = self._gathering.asked, self.batch.inputs
        weights = asked.wanted(self.weights)
        now = State(torch, self.batch.module)
        randomness.restore(torch, self.state)
        try:
            loss = pieces.loss_of(self.batch.whole())
        finally:
            now.put_back()
        found = torch.autograd.grad(loss, [*inputs, *weights], gradient, create_graph=True,
                                    allow_unused=True)
        for weight, one in zip(weights, found[len(inputs):]):
            asked.give(weight, one)
        return found[:len(inputs)]

    def _scale(self, gradients, ratio):
        by_device = {}
        for gradient in gradients:
            by_device.setdefault((gradient.device, gradient.is_sparse), []).append(gradient)
        for (device, is_sparse), some in by_device.items():
            factor = ratio.to(device)
            if is_sparse:
                for gradient in some:
                    gradient.mul_(factor)
            else:
                self._gathering.torch._foreach_mul_(some, factor)

    def _learn(self):
        """Were the gradients cleared since the forward pass, by zero_grad?"""
        gathering = self._gathering
        is_cleared = gathering.clears > self._clears
        if self._is_early and not is_cleared:
            gathering.is_cleared_between = False
        elif self._before:
            gathering.is_cleared_between = is_cleared and all(
                parameter.grad is None or gathering.is_zero(parameter)
                for parameter in self._before)


def _function(torch):
    class Gathered(torch.autograd.Function):
        """A loss whose gradients are there already."""

        @staticmethod
        def forward(ctx, kept, _anchor, *_inputs):
            ctx.kept = kept
            value, kept.value = kept.value, None
            return value

        @staticmethod
        def backward(ctx, gradient):
            kept = ctx.kept
            hand_over = kept.differentiable if torch.is_grad_enabled() else kept.hand_over
            return (None, None, *hand_over(gradient))

    return Gathered


# ---- outputs beside the loss --------------------------------------------------------------------


class _Loss:
    """Where the loss stands in an output."""


class _Other:
    """Where the tensor of that number stands."""

    def __init__(self, number):
        self.number = number


def _marked(output, loss):
    count = [0]

    def mark(tensor):
        if tensor is loss:
            return _Loss()
        count[0] += 1
        return _Other(count[0] - 1)

    return _without_caches(pieces.mapped(output, mark))


def _without_caches(output):
    """Caches of keys and values are those of one piece: none is better."""
    if hasattr(output, "past_key_values") and output.past_key_values is not None:
        output.past_key_values = None
    return output


def _filled(shape, loss, later):
    """The marks of an output, filled."""
    if isinstance(shape, _Loss):
        return loss
    if isinstance(shape, _Other):
        return later(shape.number)
    if isinstance(shape, tuple) and hasattr(shape, "_fields"):
        return type(shape)(*(_filled(one, loss, later) for one in shape))
    if isinstance(shape, (list, tuple)):
        return type(shape)(_filled(one, loss, later) for one in shape)
    if hasattr(shape, "keys") and hasattr(shape, "__setitem__"):
        for key in list(shape):
            shape[key] = _filled(shape[key], loss, later)
    elif hasattr(shape, "__dataclass_fields__"):
        for name in shape.__dataclass_fields__:
            object.__setattr__(shape, name, _filled(getattr(shape, name), loss, later))
    return shape


class Later:
    """A tensor of an output that nearly no program reads: computed if this one does.

    Its forward pass then runs again, in pieces and without gradients.
    """

    def __init__(self, compute):
        object.__setattr__(self, "_compute", compute)
        object.__setattr__(self, "_tensor", None)

    @classmethod
    def maker(cls, gathering, batch, state):
        """later(number) for the tensors of one call beside its loss."""
        found = []
        steps = gathering.steps

        def compute(number):
            if not found:
                gathering.is_late = gathering.is_late or gathering.steps > steps
                found.extend(_run_again(gathering.torch, batch, state))
            return found[number]

        return lambda number: cls(functools.partial(compute, number))

    def tensor(self):
        if self._tensor is None:
            object.__setattr__(self, "_tensor", self._compute())
        return self._tensor

    @classmethod
    def __torch_function__(cls, function, _types, args=(), kwargs=None):
        real = lambda value: value.tensor() if isinstance(value, cls) else value
        args = tuple(_unwrapped(one, real) for one in args)
        return function(*args, **{key: _unwrapped(one, real)
                                  for key, one in (kwargs or {}).items()})

    def __getattr__(self, name):
        return getattr(self.tensor(), name)


def _unwrapped(value, real):
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_unwrapped(one, real) for one in value)
    return real(value)


def _operator(name):
    def call(self, *args):
        real = [one.tensor() if isinstance(one, Later) else one for one in args]
        return getattr(self.tensor(), name)(*real)

    return call


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod",
              "pow", "matmul", "rmatmul", "neg", "abs", "getitem", "len", "iter", "lt", "le", "gt",
              "ge", "eq", "ne", "and", "or", "xor", "invert", "float", "int", "bool", "array",
              "format"):
    setattr(Later, f"__{_name}__", _operator(f"__{_name}__"))
Later.__hash__ = object.__hash__


def _run_again(torch, batch, state):
    """The tensors of a call beside its loss, detached and whole."""
    now = State(torch, batch.module)
    randomness.restore(torch, state)
    parts = []
    try:
        for number in range(len(batch.bounds)):
            with torch.enable_grad():
                output, _ = batch.run(number)
                loss = pieces.loss_of(output)
            parts.append([tensor.detach() for tensor in pieces.tensors_of(output)
                          if tensor is not loss])
            output = loss = None
        columns = list(zip(*parts))
        have_rows = [all(len(tensor.shape) > 0 and tensor.shape[0] == batch.size(number)
                         for number, tensor in enumerate(tensors)) for tensors in columns]
        if all(have_rows):
            return [torch.cat(tensors) for tensors in columns]
        randomness.restore(torch, state)
        return _of_whole(torch, batch)  # means and counts of the batch are not those of a piece
    finally:
        now.put_back()


def _of_whole(torch, batch):
    """Its tensors beside the loss, without a history."""
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda _: None,
                                                                       lambda _: None):
        output = batch.whole()
    loss = pieces.loss_of(output)
    return [tensor.detach() for tensor in pieces.tensors_of(output) if tensor is not loss]
