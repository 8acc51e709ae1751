"""The seams of a program at which techniques take hold.

    for batch in loader:                 loaders are those who need them
        loss = model(batch)              around_forward: calls of outermost modules
        loss.backward()                  around_backward: the outermost way into PyTorch's engine
        optimizer = AdamW(parameters)    around_optimizer: made, of any class
        optimizer.step()                 on_step: before, and after
                                         on_first_step: an optimizer that is there
                                         around_step: the step itself, within its hooks
    optimizer.zero_grad()                around_clearing: of an optimizer or of a module

A seam is cut when the first technique asks for it, so that a program under one technique has no
seam of another. Of several at one seam, the one that was installed first is outermost.
"""

import contextlib
import functools
import inspect
import sys
import threading
import weakref

from plimsoll_agent import module_tap
from plimsoll_agent.phases import way_into_engine
from plimsoll_agent.places import Places, callers_frame
from plimsoll_agent.switches.compiling import tracing_test
from plimsoll_agent.switches.recomputing import within_backward
from plimsoll_agent.switches.switch import Refusal

WRITINGS = 5  # of the report, in steps: programs may be ended at any


def chained(function, wrappers):
    """function as the innermost of wrappers; each is called with the next and the arguments."""
    for wrapper in reversed(wrappers):
        function = functools.partial(wrapper, function)
    return function


def _is_kept_to_compile(frame):
    """Whether a module's __call__ is looked up to be compiled later, and not for a call now."""
    code = frame.f_code
    return "torch/_dynamo/" in code.co_filename and code.co_name != "__call__"


class Program:
    """Of one process.

    torch    the module
    journal  for failures of ours
    report   the Report

    has_closure  the step that is beginning computes its gradients itself (on_step)
    """

    def __init__(self, torch, journal, report):
        self.torch = torch
        self.journal = journal
        self.report = report
        self.places = Places(torch.__file__)
        self._forward_wrappers = []
        self._backward_wrappers = []
        self._step_watchers = []
        self._optimizer_wrappers = []
        self._step_wrappers = []
        self._clearing_wrappers = []
        self._inside = threading.local()
        self._tap = module_tap.of(torch.nn.Module)
        self._is_backward = False
        self.has_closure = False
        self._writings_left = WRITINGS
        self._watch_steps()

    # ---- forward -------------------------------------------------------------------------------

    def around_forward(self, wrapper):
        """wrapper(call, module, args, kwargs) for each call of an outermost module with parameters.

        call(module, args, kwargs) goes on; its result, or another, is to be returned. Within that
        call every module, and so torch.compile, finds PyTorch's own functions in place.
        """
        self._forward_wrappers.append(wrapper)
        self._tap.add(self._called)

    def is_in_forward(self):
        return getattr(self._inside, "forward", False)

    @contextlib.contextmanager
    def within_forward(self):
        """For a backward pass that a switch makes within the program's forward pass."""
        before = self.is_in_forward()
        self._inside.forward = True
        try:
            yield
        finally:
            self._inside.forward = before

    def _is_recomputing(self):
        """A call within a backward pass is a part of a model that the program runs again."""
        return self._is_backward or within_backward(self.torch)

    def _called(self, module, bound):
        """A module is looked up for a call: as a root, it gets the wrappers around it.

        Not a parametrization, which is a weight of another module.
        """
        if self.is_in_forward() or self._is_recomputing() or \
                next(module.parameters(), None) is None or \
                type(module).__name__ == "ParametrizationList" or \
                _is_kept_to_compile(sys._getframe(2)):
            return None

        def go_on(called, args, kwargs):
            self._tap.remove(self._called)
            self._inside.forward = True
            try:
                return (bound if called is module else called)(*args, **kwargs)
            finally:
                self._inside.forward = False
                self._tap.add(self._called)

        def begin(*args, **kwargs):
            return chained(go_on, self._forward_wrappers)(module, args, kwargs)

        return begin

    # ---- backward ------------------------------------------------------------------------------

    def around_backward(self, wrapper):
        """wrapper(call, args, kwargs) for each outermost call of the engine.

        args and kwargs are those of torch.autograd's _engine_run_backward: (tensors, gradients,
        keep_graph, create_graph, inputs), with accumulate_grad=True where .grad is to be filled.
        call(args, kwargs) goes on.
        """
        self._backward_wrappers.append(wrapper)
        if len(self._backward_wrappers) > 1:
            return
        owner, name = way_into_engine(self.torch)
        engine = getattr(owner, name)

        @functools.wraps(engine)
        def run(*args, **kwargs):
            if self._is_backward:  # checkpointing calls it again from within
                return engine(*args, **kwargs)
            self._is_backward = True
            try:
                last = lambda given, named: engine(*given, **named)
                return chained(last, self._backward_wrappers)(args, kwargs)
            finally:
                self._is_backward = False

        setattr(owner, name, run)

    def is_in_backward(self):
        """True within such a call, if around_backward was used."""
        return self._is_backward

    # ---- optimizers ----------------------------------------------------------------------------

    def on_step(self, before=None, after=None):
        """before(optimizer) and after(optimizer), around each step of any optimizer."""
        self._step_watchers.append((before, after))

    def on_first_step(self, callback):
        """callback(optimizer) before the first step of each optimizer."""
        known = weakref.WeakSet()

        def before(optimizer):
            if optimizer not in known:
                known.add(optimizer)
                callback(optimizer)

        self.on_step(before)

    def around_optimizer(self, wrapper):
        """wrapper(call, optimizer, params, defaults) for each optimizer that is made.

        params is a list. call(optimizer, params, defaults) goes on, in Optimizer.__init__: after it
        the optimizer has its param_groups; what a class adds after that is not there yet.
        """
        self._optimizer_wrappers.append(wrapper)
        if len(self._optimizer_wrappers) > 1:
            return
        kind = self.torch.optim.Optimizer
        original = kind.__init__

        @functools.wraps(original)
        def __init__(optimizer, params, defaults):
            if not isinstance(params, self.torch.Tensor):
                params = list(params)  # a generator is read once
            chained(original, self._optimizer_wrappers)(optimizer, params, defaults)

        kind.__init__ = __init__

    def around_step(self, wrapper):
        """wrapper(call, optimizer, args, kwargs) in the place of the step of any optimizer.

        call(optimizer, args, kwargs) goes on; args and kwargs hold the closure, if there is one.
        Hooks of the step are called around it.
        """
        self._step_wrappers.append(wrapper)
        if len(self._step_wrappers) > 1:
            return
        kind = self.torch.optim.Optimizer
        original = kind.profile_hook_step  # PyTorch wraps the step of each class in it, once
        is_tracing = tracing_test(self.torch)

        def profile_hook_step(function):
            @functools.wraps(function)
            def step(optimizer, *args, **kwargs):
                if is_tracing():
                    return function(optimizer, *args, **kwargs)
                last = lambda owner, given, named: function(owner, *given, **named)
                return chained(last, self._step_wrappers)(optimizer, args, kwargs)

            return original(step)

        kind.profile_hook_step = staticmethod(profile_hook_step)

    def around_clearing(self, wrapper):
        """wrapper(call, owner, weights, set_to_none) for each zero_grad().

        call(owner, weights, set_to_none) goes on; weights are those of the owner.
        """
        self._clearing_wrappers.append(wrapper)
        if len(self._clearing_wrappers) > 1:
            return
        for kind in (self.torch.optim.Optimizer, self.torch.nn.Module):
            self._cover_clearing(kind, kind.zero_grad)

    def _cover_clearing(self, kind, original):
        last = lambda owner, _, set_to_none: original(owner, set_to_none=set_to_none)

        default = inspect.signature(original).parameters["set_to_none"].default

        @functools.wraps(original)
        def zero_grad(owner, set_to_none=default):
            groups = getattr(owner, "param_groups", None)
            weights = list(owner.parameters()) if groups is None else \
                [weight for group in groups for weight in group["params"]]
            chained(last, self._clearing_wrappers)(owner, weights, set_to_none)

        kind.zero_grad = zero_grad

    def _watch_steps(self):
        optim = sys.modules[self.torch.optim.Optimizer.__module__]
        is_tracing = tracing_test(self.torch)

        def began(optimizer, args, kwargs):
            if not is_tracing():
                self.has_closure = kwargs.get("closure", args[1] if len(args) > 1 else None) \
                    is not None
                for before, _ in self._step_watchers:
                    if before is not None:
                        before(optimizer)

        def ended(optimizer, _args, _kwargs):
            if is_tracing():
                return
            for _, after in self._step_watchers:
                if after is not None:
                    after(optimizer)
            if self._writings_left > 0:
                self._writings_left -= 1
                self.journal.attempt("write what became of techniques", self.report.write)

        optim.register_optimizer_step_pre_hook(began)
        optim.register_optimizer_step_post_hook(ended)

    # ---- places --------------------------------------------------------------------------------

    def place(self):
        """(file, line) of the user's innermost line that is being run; None without one."""
        frame = callers_frame()
        if frame is None:
            return None
        frame = self.places.users_frame(frame)
        return self.places.file(frame.f_code.co_filename), frame.f_lineno

    def guarded(self, entry, function, otherwise):
        """function, whose Refusal or failure becomes the entry's reason: otherwise is then called."""

        @functools.wraps(function)
        def guard(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Refusal as refusal:
                entry.refuse(refusal)
            except Exception as error:
                entry.refuse(f"it failed here: {type(error).__name__}: {error}")
            return otherwise(*args, **kwargs)

        return guard
