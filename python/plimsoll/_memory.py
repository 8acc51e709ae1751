"""What PyTorch's allocator has, in this process, on all devices together."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class Memory(NamedTuple):
    """Bytes of tensors, and of what the allocator took from the devices for them."""

    allocated: int
    reserved: int

    @property
    def cached(self) -> int:
        return self.reserved - self.allocated


def torch_in_use() -> Any:
    """The torch of this process where it has initialized CUDA; else None."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return torch if cuda is not None and cuda.is_initialized() else None


def _statistics(torch: Any) -> Any:
    return [torch._C._cuda_memoryStats(device) for device in range(torch.cuda.device_count())]


def now(torch: Any) -> Memory:
    """Of this moment."""
    every = _statistics(torch)
    return Memory(*(sum(one[name]["all"]["current"] for one in every)
                    for name in ("allocated_bytes", "reserved_bytes")))


def failures() -> int:
    """Requests that the allocator could not serve, so far."""
    torch = torch_in_use()
    return sum(one["num_ooms"] for one in _statistics(torch)) if torch is not None else 0
