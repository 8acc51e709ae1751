"""As much of PyTorch as the agent touches, on one device whose figures a test sets.

FakeTorch() stands for the module: allocate() and free() are what programs do with tensors.
"""

import sys
import types


class Module:
    def _call(self, value=None):
        return value

    __call__ = _call


class Optimizer:
    """With hooks as PyTorch's."""

    pre_hooks = []
    post_hooks = []

    def __init__(self, work=None):
        self.work = work
        self.param_groups = [{"params": [types.SimpleNamespace(requires_grad=True)]}]

    def step(self, closure=None):
        for hook in self.pre_hooks:
            hook(self, (self, closure), {})
        if closure is not None:
            closure()
        if self.work is not None:
            self.work()
        for hook in self.post_hooks:
            hook(self, (self, closure), {})

    step.hooked = True


class Hook:
    """One of a list of them."""

    def __init__(self, hooks, hook):
        self._hooks = hooks
        self._hook = hook
        hooks.append(hook)

    def remove(self):
        self._hooks.remove(self._hook)


class Statistics:
    """Of the one device: every figure is the same."""

    def __init__(self):
        self.current = 0
        self.peak = 0
        self.ooms = 0
        self.private_pools = 0  # reserved by so many; PyTorch says so since 2.15

    def allocate(self, count):
        self.current += count
        self.peak = max(self.peak, self.current)

    def stats(self, device):
        assert device == 0

        def figure():
            return {"current": self.current, "peak": self.peak}

        names = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
        answer = {name: {pool: figure() for pool in ("all", "small_pool")} for name in names}
        answer["oversize_allocations"] = figure()
        answer["reserved_bytes_by_private_pools"] = {
            (1, index): {pool: figure() for pool in ("all", "small_pool")}
            for index in range(self.private_pools)
        }
        answer.update(num_alloc_retries=0, num_ooms=self.ooms, max_split_size=-1)
        return answer

    def reset_peak(self, device):
        assert device == 0
        self.peak = self.current

    def reset_accumulated(self, device):
        assert device == 0
        self.ooms = 0


class Engine:
    """What PyTorch before 2.3 enters its engine by: an object that takes no names."""

    __slots__ = ()

    def run_backward(self, work):
        work()

    def queue_callback(self, work):
        work()


class FakeTorch:
    """
    is_before_2_3  its engine is an object's
    """

    def __init__(self, is_before_2_3=False):
        self.device = Statistics()
        core = types.SimpleNamespace(
            _cuda_memoryStats=self.device.stats,
            _cuda_resetPeakMemoryStats=self.device.reset_peak,
            _cuda_resetAccumulatedMemoryStats=self.device.reset_accumulated,
        )
        self._C = core
        self.cuda = types.SimpleNamespace(device_count=lambda: 1)
        if is_before_2_3:
            variable = types.SimpleNamespace(_execution_engine=Engine())
            self.autograd = types.SimpleNamespace(Variable=variable)
        else:
            self.autograd = types.SimpleNamespace(_engine_run_backward=lambda work: work())
        # classes of its own, because tests and the agent change them
        self.nn = types.SimpleNamespace(Module=type("Module", (), dict(vars(Module))))
        hooks = {"pre_hooks": [], "post_hooks": [], "__module__": "fake_torch_optimizer"}
        self.Optimizer = type("Optimizer", (Optimizer,), hooks)
        sys.modules["fake_torch_optimizer"] = types.SimpleNamespace(
            register_optimizer_step_pre_hook=lambda hook: Hook(self.Optimizer.pre_hooks, hook),
            register_optimizer_step_post_hook=lambda hook: Hook(self.Optimizer.post_hooks, hook),
        )

    def allocate(self, count):
        self.device.allocate(count)

    def free(self, count):
        self.device.current -= count

    def backward(self, work):
        if hasattr(self.autograd, "Variable"):
            self.autograd.Variable._execution_engine.run_backward(work)
        else:
            self.autograd._engine_run_backward(work)
