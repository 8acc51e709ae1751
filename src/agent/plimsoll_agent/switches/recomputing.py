"""Blocks that are recomputed in the backward pass, each in its own forward.

The forward of a block's class is replaced once, by one that looks at a mark of the block: what is
called is a function of the class, as before, so that copies, pickles and torch.compile find
nothing on the block but the mark. Hooks of the block stay outside and run once.
"""

import functools
import sys
import weakref

from plimsoll_agent.switches.compiling import tracing_test
from plimsoll_agent.switches.functional import Lent, transforming_test

MARK = "_plimsoll_recomputed"
SMALL_BYTES = 1 << 20  # of a buffer that is copied to learn whether calls change it
TRACKED = "num_batches_tracked"
_FILE = "torch/utils/checkpoint.py"
_MISSING = object()


def _has_cache(args, kwargs):
    """Keys and values of generation: recomputing would add to them again."""
    return any(value is not None and "cache" in type(value).__name__.lower()
               for value in (*args, *kwargs.values()))


def _without_own_cache(block, kwargs):
    """As transformers' layers do when they are recomputed: training needs no cache."""
    if not hasattr(type(block), "gradient_checkpointing"):
        return kwargs
    instead = {"use_cache": False, "past_key_values": None, "layer_past": None}
    return {name: instead.get(name, value) for name, value in kwargs.items()}


def within_backward(torch):
    """The call at hand recomputes something: modules are called that are no roots of a model."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


def within_checkpoint(torch):
    """The call at hand is one of a backward pass, or within a checkpoint of the program's."""
    if within_backward(torch):
        return True
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith(_FILE):
            return True
        frame = frame.f_back
    return False


class _Again:
    """The context of one recomputation: it finds the state that the first call found.

    Normalisation over a batch leaves its running statistics alone. Other buffers that the first
    call changed are as they were before it; those, and attributes, are put back after this one.

    recomputed  counts it
    before      {(module, name of a buffer): its copy}
    """

    def __init__(self, recomputed, block):
        self._recomputed = recomputed
        self._block = block
        self._lent = Lent(block)
        self.before = {}

    def __enter__(self):
        self._recomputed.count += 1
        self._lent.__enter__()
        modules = list(self._block.modules())
        self._attributes = [(module, dict(module.__dict__)) for module in modules]
        self._norms = [(norm, norm._buffers.get(TRACKED)) for norm in modules
                       if self._recomputed.is_norm(norm)]
        for norm, tracked in self._norms:
            norm.momentum = 0.0
            if tracked is not None:
                norm._buffers[TRACKED] = None
        self._now = [(module, name, module._buffers[name]) for module, name in self.before]
        for (module, name), copy in self.before.items():
            module._buffers[name] = copy.clone()

    def __exit__(self, *_):
        for norm, tracked in self._norms:
            if tracked is not None:
                norm._buffers[TRACKED] = tracked
        for module, name, buffer in self._now:
            module._buffers[name] = buffer
        for module, attributes in self._attributes:
            now = module.__dict__
            if len(now) != len(attributes) or any(now.get(name, _MISSING) is not value
                                                  for name, value in attributes.items()):
                now.clear()
                now.update(attributes)
        self._lent.__exit__()


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


class Recomputed:
    """The blocks of one process that are recomputed.

    run      runs a block, as torch.utils.checkpoint.checkpoint: (function, *args, context_fn)
    blocks   marked
    calls    of them that autograd records
    count    of recomputations
    theirs   blocks that the program recomputes itself
    cached   calls with keys and values of generation, which went through as they were
    within   calls within transforms of torch.func, which did so too
    unsafe   names of buffers that calls change and that were not copied
    """

    def __init__(self, torch, run=None):
        self._torch = torch
        self._nn = torch.nn
        self._checkpoint = torch.utils.checkpoint.checkpoint
        self._run = run or functools.partial(self._checkpoint, use_reentrant=False)
        self._is_transforming = transforming_test(torch)
        self._changing = weakref.WeakKeyDictionary()  # block: [(index of its module, buffer)]
        self.blocks = 0
        self.calls = 0
        self.count = 0
        self.theirs = 0
        self.cached = 0
        self.within = 0
        self.unsafe = set()

    def is_norm(self, module):
        """True with running statistics."""
        return isinstance(module, self._nn.modules.batchnorm._NormBase) and \
            module._buffers.get("running_mean") is not None

    # ---- marks ---------------------------------------------------------------------------------

    def mark(self, block):
        """Between calls of it."""
        if "forward" in block.__dict__:  # an instance's own, of accelerate and others
            block.__dict__["forward"] = self._standing_in(block.__dict__["forward"], block)
            setattr(type(block), MARK, False)
        elif MARK not in type(block).__dict__:
            type(block).forward = self._standing_in(type(block).forward)
            setattr(type(block), MARK, False)
        block.__dict__[MARK] = True
        self.blocks += 1

    def unmark(self, block):
        block.__dict__[MARK] = False
        self.blocks -= 1

    def _standing_in(self, given, owner=None):
        """For a function of a class, or for that of one module, its owner."""
        enabled = self._torch.is_grad_enabled
        is_compiling = tracing_test(self._torch)
        checkpoint, called = self._checkpoint, self._called
        if owner is None:
            @functools.wraps(given)
            def forward(self, *args, **kwargs):
                if not (self._plimsoll_recomputed and self.training and enabled()):
                    return given(self, *args, **kwargs)
                if is_compiling():
                    return checkpoint(functools.partial(given, self, **kwargs), *args,
                                      use_reentrant=False)
                return called(self, functools.partial(given, self), args, kwargs)

            return forward

        @functools.wraps(given)
        def forward_of_one(*args, **kwargs):
            if not (owner._plimsoll_recomputed and owner.training and enabled()):
                return given(*args, **kwargs)
            if is_compiling():
                return checkpoint(functools.partial(given, **kwargs), *args, use_reentrant=False)
            return called(owner, given, args, kwargs)

        return forward_of_one

    # ---- calls ---------------------------------------------------------------------------------

    def _called(self, block, own, args, kwargs):
        kwargs = _without_own_cache(block, kwargs)
        if _has_cache(args, kwargs):
            self.cached += 1
            return own(*args, **kwargs)
        if self._is_transforming():
            self.within += 1
            return own(*args, **kwargs)
        is_first = block not in self._changing
        if is_first and within_checkpoint(self._torch):
            self.unmark(block)
            self.theirs += 1
            return own(*args, **kwargs)
        self.calls += 1
        again = _Again(self, block)
        kept = self._kept(block)
        tensors = [name for name, value in kwargs.items() if isinstance(value, self._torch.Tensor)]
        others = {name: value for name, value in kwargs.items() if name not in tensors}
        count = len(args)

        def run(*given):  # tensors stand in it, so that their device's random state is kept
            return own(*given[:count], **dict(zip(tensors, given[count:])), **others)

        result = self._run(run, *args, *(kwargs[name] for name in tensors),
                           context_fn=lambda: (_Nothing(), again))
        if kept:
            again.before = self._changed(block, kept)
        return result

    # ---- state ---------------------------------------------------------------------------------

    def _kept(self, block):
        """Before a call: {(index, name): (buffer, version, copy)} of buffers that it may change."""
        known = self._changing.get(block)
        kept = {}
        if known is not None and not known:
            return kept
        for index, module in enumerate(block.modules()):
            if self.is_norm(module):
                continue
            for name, buffer in module._buffers.items():
                if buffer is None or buffer.is_inference() or \
                        known is not None and (index, name) not in known:
                    continue
                is_small = buffer.numel() * buffer.element_size() <= SMALL_BYTES
                copy = buffer.detach().clone() if is_small else None
                kept[index, name] = buffer, buffer._version, copy
        if known is None:
            self._changing[block] = []
        return kept

    def _changed(self, block, kept):
        """After it: {(module, name): copy} of those that it did change."""
        modules = list(block.modules())
        changed = {}
        for (index, name), (buffer, version, copy) in kept.items():
            module = modules[index]
            if module._buffers.get(name) is buffer and buffer._version == version:
                continue
            if (index, name) not in self._changing[block]:
                self._changing[block].append((index, name))
            if copy is None:
                self.unsafe.add(f"{type(module).__name__}.{name}")
            else:
                changed[module, name] = copy
        return changed
