"""offload=all_saved: all that autograd saves is kept on the host until backward needs it."""

from plimsoll_agent.amounts import size_text
from plimsoll_agent.switches.functional import transforming_test
from plimsoll_agent.switches.host_copies import HostCopies
from plimsoll_agent.switches.recomputing import within_backward
from plimsoll_agent.switches.switch import Switch


def host_facts(entry, copies):
    """The most bytes on the host, as requested and as pinned blocks."""
    entry.facts["host_bytes"] = copies.host_most["rounded"]
    entry.facts["host_bytes_requested"] = copies.host_most["requested"]


def host_text(copies):
    requested, pinned = copies.host_most["requested"], copies.host_most["rounded"]
    text = f"{size_text(requested)} at most lay on the host"
    if pinned != requested:
        text += f", in {size_text(pinned)} of pinned blocks, whose sizes are powers of two"
    return text


class OffloadSaved(Switch):
    """Hooks of saved tensors from the call of a model until the backward pass: the loss is in it.

    Parameters and buffers are on the device in any case, and are not copied.
    """

    name = "offload"

    def install(self):
        autograd = self.torch._C._autograd
        self._push = autograd._push_saved_tensors_default_hooks
        self._pop = autograd._pop_saved_tensors_default_hooks
        self._top = getattr(autograd, "_top_saved_tensors_default_hooks", None)
        self._copies = HostCopies(self.torch)
        self._is_on = False
        self._is_transforming = transforming_test(self.torch)
        self._own = frozenset()
        self._kept = 0
        self.program.around_forward(self._forward)
        self.program.around_backward(self._backward)
        self.program.on_step(before=lambda optimizer: self._end())
        self.entry.waits("no model was called in training with gradients")

    # ---- the region ----------------------------------------------------------------------------

    def _forward(self, call, model, args, kwargs):
        if self._is_on or not model.training or not self.torch.is_grad_enabled():
            return call(model, args, kwargs)
        if self._is_transforming():
            self.entry.waits("models are called within transforms of torch.func, which take no "
                             "hooks of saved tensors")
            return call(model, args, kwargs)
        self._own = frozenset(_address(tensor) for tensors in (model.parameters(), model.buffers())
                              for tensor in tensors)
        # In a backward pass a part of a batch is run again; PyTorch drops hooks that it leaves.
        is_outermost = self._top is not None and self._top(False) is None and \
            not within_backward(self.torch)
        self._begin()
        try:
            return call(model, args, kwargs)
        except BaseException:
            self._end()
            raise
        finally:
            if not is_outermost:  # the program has hooks of its own, which end in their order
                self._end()

    def _begin(self):
        self._push(self._pack, self._unpack)
        self._is_on = True

    def _end(self):
        if self._is_on:
            self._is_on = False
            self._pop()
        self._copies.settle()

    def _backward(self, call, args, kwargs):
        self._end()
        return call(args, kwargs)

    # ---- tensors -------------------------------------------------------------------------------

    def _pack(self, tensor):
        torch = self.torch
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or \
                tensor.layout != torch.strided or _address(tensor) in self._own:
            self._kept += 1
            return tensor.detach(), tensor._version
        return self._copies.keep(tensor.detach())

    def _unpack(self, kept):
        one, other = kept
        if not isinstance(one, self.torch.Tensor):
            return self._copies.give(kept)
        if one._version != other:
            raise RuntimeError("one of the variables needed for gradient computation has been "
                               "modified by an inplace operation (offload=all_saved)")
        return one

    # ---- evidence ------------------------------------------------------------------------------

    def settle(self):
        copies = self._copies
        if not copies.copied:
            if self._kept:
                self.entry.no_effect("autograd saved parameters only")
            return
        host_facts(self.entry, copies)
        if copies.device_bytes:
            self.entry.applied(f"{copies.copied} saved tensors, {size_text(copies.device_bytes)}, "
                               f"were copied to the host; {host_text(copies)}")
        else:
            self.entry.no_effect(f"the {copies.copied} tensors that autograd saved are on the host "
                                 "already: memory of a GPU does not change")


def _address(tensor):
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:  # of a tensor without storage
        return None
