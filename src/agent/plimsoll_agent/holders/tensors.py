"""What a tensor is: the one place of the search that knows PyTorch's.

Nothing here dispatches an operator to a device, runs a method of a subclass, materialises a lazy
copy, or warns. Getters are those of PyTorch's own base class, called on the object as it is.
"""

import contextlib

from plimsoll_agent.holders import kinds

BYTES_MIN = 512  # the allocator's smallest block: every size is a multiple of it


def rounded(count):
    """Bytes as the allocator counts them, where it has not left a block unsplit."""
    return (count + BYTES_MIN - 1) // BYTES_MIN * BYTES_MIN


class Storage:
    """Memory that tensors share.

    claims  [(rank, kind, where, label)]: see walk
    """

    __slots__ = ("device", "address", "bytes", "claims")

    def __init__(self, device, address, count):
        self.device = device
        self.address = address
        self.bytes = count
        self.claims = []


class Tensors:
    """Of the program's PyTorch."""

    def __init__(self, torch):
        self.slack = {}
        self._torch = torch
        core = torch._C
        self._base = getattr(core, "TensorBase", None) or core._TensorBase
        self.classes = (self._base,)
        self.storage_class = torch.UntypedStorage
        self.module_class = torch.nn.Module
        self.optimizer_class = torch.optim.Optimizer
        self.function_class = core._FunctionBase
        self._is_cuda = self._base.is_cuda.__get__
        self._has_storage = getattr(core, "_has_storage", None)
        self._start = getattr(core, "_data_address", None)  # of the storage, without the offset
        self._data_ptr = self._base.data_ptr
        self._untyped = self._base.untyped_storage
        self._offset = self._base.storage_offset
        self._itemsize = self._base.element_size
        self._count = self.storage_class.nbytes
        self._requires_grad = self._base.requires_grad.__get__
        self._grad = self._base._grad.__get__
        self._grad_fn = self._base.grad_fn.__get__
        self._use_count = getattr(self._base, "_use_count", None)
        self._retains_grad = self._base.retains_grad.__get__
        self._is_leaf = self._base.is_leaf.__get__
        self._device = self._base.device.__get__
        functorch = getattr(core, "_functorch", None)
        self._is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", None)
        self._unwrapped = getattr(functorch, "get_unwrapped", None)
        self._traceback = getattr(core, "_cuda_allocationTraceback", None) or getattr(
            getattr(torch.cuda, "memory", None), "_allocation_traceback", None)

    def quiet(self):
        """Within it, no subclass or mode of the program hears of what is read."""
        stack = contextlib.ExitStack()
        for name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
            guard = getattr(self._torch._C, name, None)
            if guard is not None:
                stack.enter_context(guard())
        return stack

    def is_hollow(self, kind):
        """Whether tensors of a class have a shape and no memory."""
        return any(kinds.name_of(base) in ("FakeTensor", "FunctionalTensor")
                   and str(kinds.names_of(base).get("__module__")).startswith("torch._subclasses")
                   for base in kinds.mro_of(kind))

    def storage(self, tensor):
        """(device, address, bytes) of a tensor's memory on a GPU, or None."""
        try:
            if not self._is_cuda(tensor):
                return None
            if self._has_storage is not None and not self._has_storage(tensor):
                return None
            storage = self._untyped(tensor)
            count = self._count(storage)
            if count == 0:
                return None
            address = self._start(tensor) if self._start is not None else (
                self._data_ptr(tensor) - self._offset(tensor) * self._itemsize(tensor))
            if address <= 0:
                return None
            return self._device(tensor).index, address, rounded(count)
        except Exception:  # symbolic sizes, wrappers without memory: each objects in its own way
            return None

    def of_storage(self, storage):
        """The same of a storage that the program holds without a tensor."""
        try:
            device = self.storage_class.device.__get__(storage)
            count = self._count(storage)
            if device.type != "cuda" or count == 0:
                return None
            is_lazy = getattr(self._torch._C, "_is_cow_storage", None)
            if is_lazy is not None and is_lazy(storage):
                return None
            return device.index, self.storage_class.data_ptr(storage), rounded(count)
        except Exception:
            return None

    def inner(self, tensor):
        """Tensors that one is made of and that Python's collector does not see: [(label, one)]."""
        try:
            if self._is_wrapped is not None and self._is_wrapped(tensor):
                return [("", self._unwrapped(tensor))]
        except Exception:
            pass
        return ()

    def grad(self, tensor):
        """Its gradient, or None."""
        try:
            if not self._is_leaf(tensor) and not self._retains_grad(tensor):
                return None  # to ask would warn
            return self._grad(tensor)
        except Exception:
            return None

    def grad_fn(self, tensor):
        """The node of the graph that it came from, or None."""
        try:
            if not self._requires_grad(tensor) or self._is_leaf(tensor):
                return None
            return self._grad_fn(tensor)
        except Exception:
            return None

    def is_passing(self, tensor):
        """Whether at most an operator's call holds it besides Python. False: not known."""
        try:
            return self._use_count is not None and self._use_count(tensor) <= 2
        except Exception:
            return False

    def devices(self):
        """{device: bytes that are allocated}; `slack` then has those beyond what was requested."""
        cuda = self._torch.cuda
        self.slack = {}
        if not cuda.is_initialized():
            return {}
        found = {}
        for device in range(len(cuda.default_generators)):
            try:
                stats = self._torch._C._cuda_memoryStats(device)
                live = stats["allocated_bytes"]["all"]["current"]
                asked = stats.get("requested_bytes", {}).get("all", {}).get("current", live)
                found[device] = live
                self.slack[device] = max(live - asked, 0)
            except Exception:
                break
        return found

    def made(self, address):
        """Frames that made a live block, innermost first, where PyTorch says: [] elsewhere."""
        try:
            return self._traceback(address) or [] if self._traceback is not None else []
        except Exception:
            return []
