"""offload=layer_inputs: blocks are recomputed from inputs that are kept on the host."""

from plimsoll_agent.switches.checkpoint import FLAGS, Checkpoint
from plimsoll_agent.switches.compiling import compiled_within
from plimsoll_agent.switches.host_copies import HostCopies
from plimsoll_agent.switches.offload_saved import host_facts, host_text
from plimsoll_agent.switches.recomputing import Recomputed


class OffloadInputs(Checkpoint):
    """The blocks of `checkpoint`, always by our way: a model's own switch keeps its inputs.

    What a block was called with and has a history goes to the host; masks and tables that blocks
    share stay.
    """

    name = "offload"
    uses_own = False

    def install(self):
        self._copies = HostCopies(self.torch)
        self._has_compiled = False
        self._has_taken_over = False
        super().install()
        self.value = ""
        self._recomputed = Recomputed(self.torch, self._run)
        self.program.around_backward(self._backward)

    def _prepare(self, model):
        """Hooks of saved tensors would not be seen within a graph."""
        self._has_compiled = compiled_within(model) is not None
        if not self._has_compiled:
            super()._prepare(model)

    def _takes_over(self, model):
        """Its own would keep the inputs on the device."""
        for module in model.modules():
            for flag in FLAGS:
                if module.__dict__.get(flag) is True:
                    setattr(module, flag, False)
        self._has_taken_over = True
        return True

    def _run(self, function, *args, context_fn):
        graph = self.torch.autograd.graph
        with graph.saved_tensors_hooks(self._pack, self._unpack):
            return self.torch.utils.checkpoint.checkpoint(
                function, *args, use_reentrant=False, context_fn=context_fn)

    def _backward(self, call, args, kwargs):
        self._copies.settle()
        return call(args, kwargs)

    def _pack(self, tensor):
        is_made = tensor.requires_grad and not tensor.is_leaf
        if is_made and type(tensor) is self.torch.Tensor:
            return self._copies.keep(tensor.detach())
        return tensor

    def _unpack(self, kept):
        return kept if isinstance(kept, self.torch.Tensor) else self._copies.give(kept)

    def settle(self):
        super().settle()
        if self._has_compiled:
            self.entry.refuse("the program compiles its model: a compiled graph keeps the inputs "
                              "of its blocks on the device")
        copies = self._copies
        if self.entry.state != "applied":
            return
        host_facts(self.entry, copies)
        if self._has_taken_over:
            self.entry.applied(f"{self.entry.text}, in the place of the model's own gradient "
                               "checkpointing")
        if copies.device_bytes:
            self.entry.applied(f"{self.entry.text}; {host_text(copies)}")
        elif copies.copied:
            self.entry.applied(f"{self.entry.text}; their inputs are on the host already, so that "
                               "it is checkpointing alone")
