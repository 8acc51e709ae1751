"""As much of PyTorch, of IPython and of the search for holders as the package touches."""

import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.join(ROOT, "src", "agent"))

MIB = 1 << 20


class Tensor:
    """Bytes of a device, given back when it goes."""

    def __init__(self, torch, count):
        self.torch = torch
        self.count = count
        torch.allocated += count
        torch.reserved = max(torch.reserved, torch.allocated)

    def __del__(self):
        self.torch.allocated -= self.count


class FakeTorch(types.ModuleType):
    """One device, whose tensors are counted."""

    class OutOfMemoryError(RuntimeError):
        pass

    def __init__(self):
        super().__init__("torch")
        self.allocated = 0
        self.reserved = 0
        self.ooms = 0
        self.is_used = True
        self._C = types.SimpleNamespace(_cuda_memoryStats=self._stats)
        self.cuda = types.SimpleNamespace(
            is_initialized=lambda: self.is_used, device_count=lambda: 1,
            empty_cache=self._empty_cache, _lazy_call=self._lazy_call)
        self.waiting = []

    def _stats(self, device):
        assert device == 0
        return {"allocated_bytes": {"all": {"current": self.allocated}},
                "reserved_bytes": {"all": {"current": self.reserved}}, "num_ooms": self.ooms}

    def _empty_cache(self):
        self.reserved = self.allocated

    def _lazy_call(self, call):
        if self.is_used:
            call()
        else:
            self.waiting.append(call)

    def tensor(self, mib):
        return Tensor(self, mib * MIB)

    def fail(self):
        self.ooms += 1
        raise self.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


class FakeShell:
    """IPython's shell, after init: what it keeps, where it keeps it."""

    def __init__(self):
        self.user_ns = {"_oh": {}, "_": "", "__": "", "___": ""}
        self.user_ns["Out"] = self.user_ns["_oh"]
        self.user_ns_hidden = dict(self.user_ns)
        self.displayhook = types.SimpleNamespace(_="", __="", ___="")
        self.InteractiveTB = types.SimpleNamespace(tb=None, etype=None, evalue=None, pdb=None)
        self.last_execution_result = types.SimpleNamespace(
            result=None, error_in_exec=None, error_before_exec=None)
        self.callbacks = {"pre_run_cell": [], "post_run_cell": []}
        self.events = types.SimpleNamespace(
            register=lambda event, call: self.callbacks[event].append(call),
            unregister=lambda event, call: self.callbacks[event].remove(call))
        self.number = 0

    def run(self, function):
        """Runs a cell: an exception stays where IPython keeps it, a value goes to Out[]."""
        self.number += 1
        result = types.SimpleNamespace(result=None, error_in_exec=None, error_before_exec=None)
        self._call("pre_run_cell")
        try:
            result.result = function()
        except Exception as error:
            result.error_in_exec = error
            sys.last_value = error
            sys.last_type, sys.last_traceback = type(error), error.__traceback__
            self.InteractiveTB.tb = error.__traceback__
            self.InteractiveTB.evalue = error
        if result.result is not None:
            self._output(result.result)
        self.last_execution_result = result
        self._call("post_run_cell", result)
        return self.number

    def _output(self, value):
        self.user_ns["_oh"][self.number] = value
        for newer, older in (("__", "___"), ("_", "__")):
            self.user_ns[older] = self.user_ns[newer]
            setattr(self.displayhook, older, self.user_ns[newer])
        for name in ("_", f"_{self.number}"):
            self.user_ns[name] = self.user_ns_hidden[name] = value
        self.displayhook._ = value

    def _call(self, event, *words):
        for call in list(self.callbacks[event]):
            call(*words)


def holder(number, count, *path, **words):
    """A holder of a document holders/1."""
    one = {"id": number, "kind": "global", "text": f"list `{path[-1]}`", "name": path[-1],
           "type": "list", "path": list(path), "file": None, "line": None, "function": None,
           "made_file": None, "made_line": None, "made_function": None, "tensors": 2,
           "bytes": count, "device": 0, "also": [], "blocks": []}
    if path[0].startswith("global "):
        one["function"] = "__main__"
    one.update(words)
    return one


def document(live, *holders, **words):
    """holders/1"""
    made = {"schema": "holders/1", "plimsoll": None, "torch": "2.11.0", "pid": 1, "moment": "dump",
            "seconds": 0.1, "is_complete": True, "why_incomplete": None, "holders": list(holders),
            "devices": [{"device": 0, "live_bytes": live, "graph_bytes": 0, "engine_bytes": 0,
                         "held_bytes": sum(one["bytes"] for one in holders)}],
            "garbage": {"bytes": 0, "tensors": 0, "objects": 0, "text": ""}, "warnings": []}
    made.update(words)
    return made
