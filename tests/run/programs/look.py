"""Prints what a program can see of the interpreter it runs in, a line each."""

import builtins
import gc
import hashlib
import inspect
import logging
import os
import pickle
import random
import signal
import sys
import threading
import warnings

import torch

random.seed(1)
torch.manual_seed(1)


def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def is_of_others(module):
    """Neither ours nor the standard library's, which both may import."""
    first = module.partition(".")[0]
    return (first not in sys.stdlib_module_names and not first.startswith("_sysconfigdata")
            and first != "plimsoll_agent")


def descriptors():
    """Those that are open, but for the pipe by which a thread of ours hears of signals."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append((int(name), os.readlink("/proc/self/fd/" + name).split(":[")[0]))
        except OSError:
            pass
    return sorted(one for one in found if one[0] <= 2 or one[1] != "pipe")


def look(moment):
    hooks = torch.nn.modules.module
    for name, value in {
        "path": sys.path,
        "threads": [thread.name for thread in threading.enumerate()],
        "hooks": (sys.unraisablehook is sys.__unraisablehook__,
                  sys.displayhook is sys.__displayhook__, sys.gettrace(), sys.getprofile(),
                  threading.gettrace(), threading.getprofile(), sys.path_hooks, sys.meta_path),
        "signals": [(int(number), signal.getsignal(number)) for number in signal.valid_signals()],
        "gc": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_freeze_count(),
               gc.get_debug()),
        "warnings": (warnings.filters, warnings.showwarning, warnings.defaultaction),
        "random": (digest(random.getstate()), digest(torch.get_rng_state().tolist())),
        "environment": sorted(n for n in os.environ if not n.startswith("PLIMSOLL_")),
        "descriptors": descriptors(),
        "builtins": sorted(vars(builtins)),
        "logging": (logging.root.handlers, logging.root.level),
        "process": (os.getcwd(), sys.argv, sys.flags, os.umask(0o22), sys.getrecursionlimit(),
                    sys.getswitchinterval(), sys.getdefaultencoding()),
        "modules": sorted(name for name in sys.modules if is_of_others(name)),
        "main": sorted(vars(sys.modules["__main__"])),
        "torch hooks": [len(getattr(hooks, name)) for name in sorted(vars(hooks))
                        if name.startswith("_global_")
                        and hasattr(getattr(hooks, name), "__len__")],
        "torch modes": (torch.is_grad_enabled(), torch.is_inference_mode_enabled(),
                        torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack(),
                        torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()),
        "signatures": [str(inspect.signature(function)) for function in (
            torch.cuda.memory._snapshot, torch.cuda.memory._record_memory_history,
            torch.optim.SGD.step, torch.Tensor.backward, torch.nn.Module.__call__)],
        "sources": digest([inspect.getsource(function) for function in (
            torch.optim.SGD.step, torch.Tensor.backward, torch.cuda.init)]),
        "pickles": digest([pickle.dumps(function) for function in (
            torch.cuda.memory._snapshot, torch.optim.SGD, torch.Tensor.backward, sys.exit)]),
        "statistics": torch.cuda.memory_stats() if torch.cuda.is_initialized() else None,
        "loaders": (torch.__loader__, torch.__spec__),
    }.items():
        print(moment, name, value, sep="\\t")
