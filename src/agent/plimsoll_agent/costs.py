"""Counts the work of a step, in rehearsals that are to count it: docs/design/fit-cost.md.

PyTorch's execution trace observer writes every operation of the first and of the second step into a
file; the second is read at the end, or the first where there is no other. What goes between host
and device comes from the stand-ins. Nothing is read while the program runs, and its tensors stay
what they were: a dispatch mode would make PyTorch add gradients up otherwise.
"""

import os

from plimsoll_agent import tally
from plimsoll_agent.trace import Reader

STEPS = 2
BYTES_MAX = 512 << 20  # of a file; a program without steps is a step without an end
COPIES = {"to_host_bytes": "bytes to host", "to_device_bytes": "bytes to device",
          "aside_to_host_bytes": "bytes to host aside",
          "aside_to_device_bytes": "bytes to device aside"}
GRAPHS = "graph launch"
TRITON = "triton_"


class Observation:
    """One step.

    is_whole  it has ended by itself
    """

    def __init__(self, step, path, counts):
        self.step = step
        self.path = path
        self.counts = counts
        self.is_whole = False

    def end(self, counts):
        self.counts = {name: count - self.counts.get(name, 0) for name, count in counts.items()}


class Costs:
    """Of one process.

    folder  for the files
    """

    def __init__(self, torch, phases, folder, journal):
        self._torch = torch
        self._phases = phases
        self._folder = folder
        self._journal = journal
        self._step = 0
        self._now = None
        self._last = None
        self._why = "no step began"
        self._why_partial = None
        self._result = None

    def begin(self):
        """CUDA is there."""
        if not hasattr(self._torch._C._profiler, "_add_execution_trace_observer"):
            self._why = "this PyTorch has no execution trace observer"
            return
        self._phases.on_turn = self._journal.guard("count the work of a step")(self._turned)
        os.register_at_fork(after_in_child=self._forked)

    # ---- while the program runs ----------------------------------------------------------------

    def _turned(self):
        """A step begins, and another may have ended."""
        if self._now is not None:
            self._now.is_whole = True
            self.stop()
        self._step += 1
        if self._step <= STEPS:
            self._start()

    def _start(self):
        profiler = self._torch._C._profiler
        path = os.path.join(self._folder, f"{os.getpid()}.step{self._step}.trace")
        if not profiler._add_execution_trace_observer(path):
            self._why = "the program observes its own execution trace"
            return
        self._now = Observation(self._step, path, self._counts())
        profiler._enable_execution_trace_observer()

    def stop(self):
        """The step has ended, or the program."""
        now, self._now = self._now, None
        if now is None:
            return
        profiler = self._torch._C._profiler
        profiler._disable_execution_trace_observer()
        profiler._remove_execution_trace_observer()
        now.end(self._counts())
        if now.is_whole or self._last is None:
            self._last = now

    def look(self):
        """Now and then, from another thread: has the file become too large?"""
        now = self._now
        if now is not None and os.path.exists(now.path) and os.path.getsize(now.path) > BYTES_MAX:
            self._why_partial = f"step {now.step} has more operations than are counted"
            self._phases.on_turn = None
            self.stop()

    def _counts(self):
        counts = tally.read()
        stats = self._torch.cuda.memory_stats()
        counts["driver"] = stats.get("num_device_alloc", 0) + stats.get("num_device_free", 0)
        return counts

    def _forked(self):
        """The file is the parent's."""
        if self._now is not None:
            self._now = None
            self._torch._C._profiler._disable_execution_trace_observer()

    # ---- at the end ----------------------------------------------------------------------------

    def as_result(self, is_final):
        """For the results; None until the program has ended."""
        if not is_final:
            return None
        if self._result is None:
            self.stop()
            self._result = self._journal.attempt("read the trace of a step", self._read) \
                or {"why_unknown": self._why, "operations": []}
        return self._result

    def _allowed(self):
        """(products, convolutions): of 32 bits in TF32?"""
        torch = self._torch
        precision = torch.get_float32_matmul_precision()
        return precision != "highest", bool(torch._C._get_cudnn_allow_tf32())

    def _read(self):
        last = self._last
        if last is None:
            return None
        if any(name.startswith(GRAPHS) and count for name, count in last.counts.items()):
            self._why = "CUDA graphs were launched, whose operations PyTorch does not dispatch"
            return None
        self._why = "the trace of the step could not be read"
        total = Reader(*self._allowed()).read(last.path)
        os.unlink(last.path)
        triton = sum(count for name, count in last.counts.items() if name.startswith(TRITON))
        if triton > 0:
            self._why_partial = f"the traffic of {triton} kernels of Triton is not known"
        return {"step": last.step if last.is_whole else 0,
                "operations": total.as_result(),
                "launches": total.launches + triton,
                "host_bytes": total.host_bytes,
                "driver_calls": last.counts.get("driver", 0),
                **{name: last.counts.get(count, 0) for name, count in COPIES.items()},
                "why_unknown": None, "why_partial": self._why_partial}
