"""Counts the work of a step, in rehearsals that are to count it: docs/design/fit-cost.md.

PyTorch's execution trace observer writes every operation of the first two steps into a file; the
second step is read at the end, or the first where there is no other. Where the launcher knows that
there is a second, it alone is written. What goes between host and
device comes from the stand-ins. Nothing is read while the program runs, and its tensors stay what
they were: a dispatch mode would make PyTorch add gradients up otherwise.

There is one observer, which begins once and ends once: an operation that began under one observer
and ends under another is fatal (PyTorch 2.11). So steps and phases are marked in the trace.
"""

import os

from plimsoll_agent import tally, trace

STEPS = 2
BYTES_MAX = 1 << 30  # of a file that is read
COPIES = {"to_host_bytes": "bytes to host", "to_device_bytes": "bytes to device",
          "aside_to_host_bytes": "bytes to host aside",
          "aside_to_device_bytes": "bytes to device aside"}
DRIVER = "calls of the driver"
GRAPHS = "graph launch"
TRITON = "triton_"


class Costs:
    """Of one process.

    folder   for the file
    skipped  steps that are not written
    """

    def __init__(self, torch, phases, folder, journal, skipped=0):
        self._torch = torch
        self._phases = phases
        self._path = os.path.join(folder, f"{os.getpid()}.trace")
        self._journal = journal
        self._skipped = skipped
        self._left = skipped
        self._counts = []  # at the beginning of each step, and at the end
        self._is_on = False
        self._why = "no step began"
        self._result = None

    def begin(self):
        """CUDA is there."""
        profiler = self._torch._C._profiler
        if not hasattr(profiler, "_add_execution_trace_observer"):
            self._why = "this PyTorch has no execution trace observer"
            return
        self._phases.on_turn = self._journal.guard("count the work of a step")(self._turned)
        self._phases.on_change = self._journal.guard("count the work of a phase")(self._changed)
        os.register_at_fork(after_in_child=self._forked)

    # ---- while the program runs ----------------------------------------------------------------

    def _mark(self, name):
        with self._torch.autograd.profiler.record_function(name):
            pass

    def _turned(self):
        """A step begins, and another may have ended."""
        if self._left > 0:
            self._left -= 1
            self._why = "the program has fewer steps than before"
            return
        if not self._counts:
            self._start()
        if self._is_on:
            self._counts.append(self._count())
            self._mark(trace.STEP)
            if len(self._counts) > STEPS - self._skipped:
                self.stop()

    def _changed(self, phase):
        """A phase has ended."""
        if self._is_on:
            self._mark(trace.PHASE + phase)

    def _start(self):
        profiler = self._torch._C._profiler
        if not profiler._add_execution_trace_observer(self._path):
            self._why = "the program observes its own execution trace"
            return
        self._is_on = True
        profiler._enable_execution_trace_observer()

    def stop(self):
        """Of its own accord, or because the program ends."""
        if not self._is_on:
            return
        self._is_on = False
        profiler = self._torch._C._profiler
        profiler._disable_execution_trace_observer()
        profiler._remove_execution_trace_observer()
        if len(self._counts) == 1:
            self._counts.append(self._count())

    def _count(self):
        counts = tally.read()
        stats = self._torch.cuda.memory_stats()
        counts[DRIVER] = stats.get("num_device_alloc", 0) + stats.get("num_device_free", 0)
        return counts

    def _forked(self):
        """The file is the parent's."""
        if self._is_on:
            self._is_on = False
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
        if len(self._counts) < 2:
            return None
        before, after = self._counts[-2:]
        counts = {name: count - before.get(name, 0) for name, count in after.items()}
        if counts.get(GRAPHS, 0) > 0:
            self._why = "CUDA graphs were launched, whose operations PyTorch does not dispatch"
            return None
        if os.path.getsize(self._path) > BYTES_MAX:
            self._why = "a step has more operations than are counted"
            return None
        self._why = "the trace of the step could not be read"
        step, total = trace.read(self._path, *self._allowed())
        os.unlink(self._path)
        triton = sum(count for name, count in counts.items() if name.startswith(TRITON))
        partial = f"the traffic of {triton} kernels of Triton is not known" if triton else None
        return {"step": step + self._skipped if step > 0 else 0,
                "operations": total.as_result(),
                "launches": total.launches + triton,
                "host_bytes": total.host_bytes,
                "driver_calls": counts.get(DRIVER, 0),
                **{name: counts.get(count, 0) for name, count in COPIES.items()},
                "why_unknown": None, "why_partial": partial}
