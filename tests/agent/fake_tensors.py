"""Tensors, models and graphs as far as a search for holders looks at them, without PyTorch."""

import contextlib
import ctypes
import itertools
import types

class Unseen:
    """An attribute that Python's collector does not see, as those of C++ are."""

    def __set_name__(self, owner, name):
        self._name = f"_at_{name}"

    def __get__(self, thing, kind=None):
        at = thing.__dict__.get(self._name)
        return None if at is None else ctypes.cast(at, ctypes.py_object).value

    def __set__(self, thing, value):
        self.drop(thing)
        if value is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
            thing.__dict__[self._name] = id(value)

    def drop(self, thing):
        at = thing.__dict__.pop(self._name, None)
        if at is not None:
            ctypes.pythonapi.Py_DecRef(ctypes.cast(at, ctypes.py_object))


_addresses = itertools.count(1 << 20, 1 << 20)


class Tensor:
    """With memory of its own, or that of another; without bytes, a wrapper."""

    grad = Unseen()
    grad_fn = Unseen()

    def __init__(self, count=512, of=None, grad_fn=None, device=0):
        self.memory = of.memory if of is not None else (
            (device, next(_addresses), count) if count else None)
        self.grad = None
        self.grad_fn = grad_fn

    def __del__(self):
        Tensor.__dict__["grad"].drop(self)
        Tensor.__dict__["grad_fn"].drop(self)


class UntypedStorage:
    def __init__(self, count):
        self.memory = (0, next(_addresses), count)


class Module:
    def __init__(self):
        self._parameters = {}
        self._buffers = {}
        self._modules = {}


class Optimizer:
    def __init__(self, parameters):
        self.param_groups = [{"params": list(parameters)}]
        self.state = {one: {"exp_avg": Tensor(one.memory[2])} for one in parameters}


class SavedTensor:
    """What a node saved.

    reads  how often that was unpacked: never, if all is well
    """

    reads = 0

    def __init__(self, data, unpack_hook=None):
        self._data = data
        self._unpack_hook = unpack_hook

    data = property(lambda self: self._data)
    unpack_hook = property(lambda self: self._unpack_hook)


class Node:
    """Of a graph."""

    _register_hook_dict = None
    edges = Unseen()
    saved = Unseen()

    def __init__(self, following=(), saved=None, number=0):
        self.edges = tuple((one, 0) for one in following)
        self.saved = saved
        self.number = number

    def __del__(self):
        Node.__dict__["edges"].drop(self)
        Node.__dict__["saved"].drop(self)

    next_functions = property(lambda self: self.edges)
    _raw_saved_self = property(lambda self: self.saved)

    def _sequence_nr(self):
        return self.number


class Function:
    """torch._C._FunctionBase."""


class Adapter:
    """In the place of plimsoll_agent.holders.tensors.Tensors.

    live  bytes that are allocated on the one device
    """

    slack = {}
    classes = (Tensor,)
    storage_class = UntypedStorage
    module_class = Module
    optimizer_class = Optimizer
    function_class = Function

    def __init__(self, live=0):
        self.live = live

    def quiet(self):
        return contextlib.nullcontext()

    def is_hollow(self, kind):
        return False

    def storage(self, tensor):
        return tensor.memory

    of_storage = storage

    def is_passing(self, tensor):
        return True

    def inner(self, tensor):
        return ()

    def grad(self, tensor):
        return tensor.grad

    def grad_fn(self, tensor):
        return tensor.grad_fn

    def devices(self):
        return {0: self.live}

    def made(self, address):
        return []


def torch():
    """The module, as far as it is asked."""
    core = types.SimpleNamespace(_autograd=types.SimpleNamespace(SavedTensor=SavedTensor))
    return types.SimpleNamespace(__file__="/nowhere/torch/__init__.py", __version__="2.11.0",
                                 _C=core)
