"""empty_cache: what the allocator keeps cached goes back to the device between phases."""

from plimsoll_agent.switches.switch import Switch


class EmptyCache(Switch):
    """Before and after a backward pass, after an optimizer's step, before an evaluation."""

    name = "empty_cache"

    def install(self):
        self._calls = 0
        self._returned = 0  # bytes
        self._most = 0
        self._was_training = False
        self.program.around_forward(self._forward)
        self.program.around_backward(self._backward)
        self.program.on_step(after=lambda _: self._empty())
        self.entry.facts["phases"] = "backward,step,eval"
        self.entry.waits("neither a backward pass nor an optimizer's step ran")

    def _empty(self):
        cuda = self.torch.cuda
        self._calls += 1
        if not cuda.is_initialized() or cuda.is_current_stream_capturing():
            return
        devices = range(cuda.device_count())
        before = sum(cuda.memory_reserved(device) for device in devices)
        cuda.empty_cache()
        gone = before - sum(cuda.memory_reserved(device) for device in devices)
        self._returned += gone
        self._most = max(self._most, gone)

    def _forward(self, call, module, args, kwargs):
        if self.torch.is_grad_enabled():
            self._was_training = True
        elif self._was_training:
            self._was_training = False
            self._empty()
        return call(module, args, kwargs)

    def _backward(self, call, args, kwargs):
        if self.program.is_in_forward():
            return call(args, kwargs)
        self._empty()
        try:
            return call(args, kwargs)
        finally:
            self._empty()

    def settle(self):
        if self._returned:
            self.entry.applied(f"torch.cuda.empty_cache() ran {self._calls} times and returned "
                               f"{self._returned >> 20} MiB in all, {self._most >> 20} MiB at most "
                               "in one call; the device is synchronized each time")
        elif self._calls and not self.torch.cuda.is_initialized():
            self.entry.no_effect("nothing is on a CUDA device: there is no cache to empty")
        elif self._calls:
            self.entry.no_effect(f"torch.cuda.empty_cache() ran {self._calls} times and found "
                                 "nothing to return")
