"""As much of PyTorch as the recorder touches: a package, for programs that import it.

One device of 1000 bytes. take(n) allocates, give(n) frees; what does not fit raises as PyTorch does:
the allocator's observers first, then the exception is made.
"""

import os
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import fake_torch  # noqa: E402

sys.path.pop(0)
__version__ = "2.11.0+fake"
version = types.SimpleNamespace(cuda="13.0")
TOTAL = 1000


class OutOfMemoryError(RuntimeError):
    pass


_fake = fake_torch.FakeTorch()
_device = _fake.device
_C = _fake._C
nn = _fake.nn
optim = types.SimpleNamespace(Optimizer=_fake.Optimizer)
_state = {"queued": [], "is_up": False, "observers": [], "events": [], "entries": 0,
          "share": 1.0, "allocated": 0, "freed": 0}


def _stats(device):
    stats = _device.stats(device)
    stats["inactive_split_bytes"] = {"all": {"current": 0, "peak": 0}}
    for name in ("allocation", "segment"):
        stats[name] = {"all": {"allocated": _state["allocated"], "freed": _state["freed"]}}
    return stats


def _record(enabled, *args, **kwargs):
    _state["entries"] = kwargs.get("max_entries", args[-1] if args else 1) if enabled else 0


def _snapshot(_device=None, has_history=True):
    if os.environ.get("FAKE_NO_MEMORY") == "all":
        raise MemoryError
    if has_history and os.environ.get("FAKE_NO_MEMORY"):
        raise MemoryError
    return {"segments": [], "device_traces": [_state["events"]] if has_history else [],
            "allocator_settings": {"expandable_segments": True}}


_C._cuda_memoryStats = _stats
_C._cuda_attach_out_of_memory_observer = _state["observers"].append
_C._cuda_record_memory_history = _record
_C._cuda_isHistoryEnabled = lambda: _state["entries"] > 0
_C._cuda_memorySnapshot = lambda wanted=None: _snapshot(None, wanted is None)
_C._cuda_setMemoryFraction = lambda share, device: _state.update(share=share)
_C._cuda_getMemoryFraction = lambda device: _state["share"]


class _Context:
    def __init__(self, device):
        pass

    __enter__ = __exit__ = lambda *_: None


def _lazy_call(call):
    if _state["is_up"]:
        call()
    else:
        _state["queued"].append(call)


cuda = types.SimpleNamespace(
    device_count=lambda: 1, current_device=lambda: 0, _lazy_call=_lazy_call, device=_Context,
    is_initialized=lambda: _state["is_up"], OutOfMemoryError=OutOfMemoryError,
    mem_get_info=lambda device: (TOTAL - _device.current, TOTAL),
    get_device_properties=lambda device: types.SimpleNamespace(
        name="Fake GPU", total_memory=TOTAL, uuid="0"),
    memory=types.SimpleNamespace(
        _record_memory_history=lambda enabled="all", **how:
            _C._cuda_record_memory_history(enabled, **how),
        _snapshot=_snapshot))


def init():
    """The first use of CUDA."""
    if not _state["is_up"]:
        _state["is_up"] = True
        for call in _state["queued"]:
            call()


def take(count):
    """Allocates; what stands for the tensor."""
    init()
    free = TOTAL * _state["share"] - _device.current
    if count > free:
        _device.ooms += 1
        for observer in _state["observers"]:
            observer(0, count, TOTAL, int(free))
        raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {count} bytes.")
    _device.allocate(count)
    _state["allocated"] += 1
    if _state["entries"]:
        _state["events"].append({"action": "alloc", "size": count})
    return bytearray(1)


def give(count):
    """Frees."""
    _device.current -= count
    _state["freed"] += 1
