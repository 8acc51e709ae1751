"""Whole numbers that one rank broadcasts: lengths, shapes, orders that all must agree on.

NCCL's stand-in sends nothing, so a rank would keep what it had. That is right for what ranks hold
alike. But programs also lay down a placeholder and let the first rank's numbers come over it, as
DeepSpeed does to compare the order of parameters. Where ranks are processes, small tensors of
whole numbers therefore go through the group's store, as objects do. What the first rank's device
computed is zeros for it, and for the others too.
"""

import functools

from plimsoll_agent.importing import when_imported
from plimsoll_agent.rebinding import rebind

BYTES_MAX = 64 << 10
_COMPARES = "deepspeed.runtime.zero.utils"


class Broadcasts:
    """Replaces broadcast(), once torch.distributed is there."""

    def __init__(self, torch, c10d, objects, journal):
        self._torch = torch
        self._c10d = c10d
        self._objects = objects
        self._attempt = journal.attempt

    def install(self):
        rebind(self._c10d, "broadcast", self._broadcast)

    def _carries(self, tensor):
        """Whether it is small, of whole numbers, on a device, and not part of a graph."""
        torch = self._torch
        return (type(tensor) is torch.Tensor and tensor.is_cuda and tensor.is_contiguous()
                and not tensor.is_floating_point() and not tensor.is_complex()
                and 0 < tensor.numel() * tensor.element_size() <= BYTES_MAX
                and not torch.cuda.is_current_stream_capturing())

    def _exchange(self, tensor, src, group, group_src):
        """Brings the source's numbers. Copies that do not wait are no value reads."""
        if not self._carries(tensor) or self._c10d.get_backend(group) == "fake":
            return  # a fake group is one process for all ranks, and its store keeps nothing
        post = self._objects.post(group, "cuda")
        if post is None:
            return
        source = self._objects.rank_in(group, src, group_src, 0)
        key = f"{post.next_key('broadcast')}/{source}"
        host = self._torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu")
        with self._torch.no_grad():
            if post.rank == source:
                host.copy_(tensor, non_blocking=True)
                if post.size > 1:
                    post.put(key, host.tolist(), post.size - 1)
            else:
                host.copy_(self._torch.tensor(post.get(key), dtype=tensor.dtype, device="cpu"))
                tensor.copy_(host, non_blocking=True)

    def _broadcast(self, original):
        def broadcast(tensor, src=None, group=None, async_op=False, group_src=None, *args,
                      **kwargs):
            if group_src is not None:
                args = (group_src, *args)
            work = original(tensor, src, group, async_op, *args, **kwargs)
            self._attempt("carry a broadcast", self._exchange, tensor, src, group, group_src)
            return work

        return broadcast


def agree_alone():
    """For a rank without the others: DeepSpeed compares with numbers that never come."""
    when_imported(_COMPARES, lambda module, seconds: _let_agree(module))


def _let_agree(module):
    original = module.assert_ints_same_as_other_ranks

    @functools.wraps(original)
    def assert_ints_same_as_other_ranks(numbers):
        try:
            original(numbers)
        except RuntimeError as error:
            if "disagreement" not in str(error):
                raise

    module.assert_ints_same_as_other_ranks = assert_ints_same_as_other_ranks
