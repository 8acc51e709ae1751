"""Loaders of PyTorch's whose batch is of another size, training and evaluation apart.

A loader shows which it is when it is iterated: under no_grad, or after model.eval(), it is for
evaluation. One that shuffles is for training from the beginning, so that its length is right, too.
"""

import functools
import weakref

from plimsoll_agent.switches.switch import Refusal


def _batchers(loader):
    """Its sampler of batches, and those within: accelerate's share one between ranks."""
    found = [getattr(loader, "batch_sampler", None)]
    while getattr(found[-1], "batch_sampler", None) is not None:
        found.append(found[-1].batch_sampler)
    return found


class Loaders:
    """Of one process.

    size       of a batch: size(the loader's own, rows of its dataset or None) → the one it is to
               have, or raises a Refusal
    is_wanted  True: loaders for training; False: those for evaluation
    changed    called with (loader, from, to)
    alike      called with a size that a loader has already
    refuse     called with a reason
    shared     of loaders for evaluation, left as they are: the program trains with them, too
    """

    def __init__(self, torch, size, is_wanted, changed, alike, refuse):
        self._torch = torch
        self._size = size
        self._is_for_training = is_wanted
        self._changed = changed
        self._alike = alike
        self._refuse = refuse
        self.shared = 0
        self._known = weakref.WeakKeyDictionary()  # {loader: its batch before, None: unchanged}
        self._trained = weakref.WeakSet()
        self._is_training = True  # by the last call of Module.train()
        self._watch_modes(torch.nn.Module)
        self._cover(torch.utils.data.DataLoader)

    def _watch_modes(self, kind):
        original = kind.train

        @functools.wraps(original)
        def train(module, mode=True):
            self._is_training = bool(mode)
            return original(module, mode)

        kind.train = train

    def _cover(self, kind):
        made, iterated = kind.__init__, kind.__iter__

        @functools.wraps(made)
        def begin(loader, *args, **kwargs):
            made(loader, *args, **kwargs)
            if self._is_for_training and self._shuffles(loader):
                self._change(loader)

        @functools.wraps(iterated)
        def iterate(loader):
            evaluates = not (self._is_training and self._torch.is_grad_enabled())
            self._come(loader, evaluates, self._shuffles(loader))
            return iterated(loader)

        kind.__init__, kind.__iter__ = begin, iterate

    def _come(self, loader, evaluates, shuffles):
        """A loader is iterated: in an evaluation, or in training."""
        if not evaluates:
            self._trained.add(loader)
        if self._is_for_training:
            if shuffles or not evaluates:
                self._change(loader)
        elif not evaluates:
            if self._known.get(loader) is not None:  # by an evaluation before
                self._set(loader, self._known[loader])
                self._known[loader] = None
                self.shared += 1
        elif loader in self._trained:
            self.shared += 1
        elif not shuffles:
            self._change(loader)

    def _shuffles(self, loader):
        """Its order is drawn, or made by the program."""
        data = self._torch.utils.data
        sampler = getattr(_batchers(loader)[-1], "sampler", getattr(loader, "sampler", None))
        return not isinstance(sampler, (data.SequentialSampler, type(None))) and \
            not isinstance(loader.dataset, data.IterableDataset)

    def _change(self, loader):
        """Its batches are of another size from now on, once."""
        if loader in self._known:
            return
        self._known[loader] = None
        try:
            was, size = self._sizes(loader)
        except Refusal as refusal:
            self._refuse(refusal)
            return
        if was == size:
            self._alike(size)
            return
        self._set(loader, size)
        self._known[loader] = was
        self._changed(loader, was, size)

    def _set(self, loader, size):
        for sampler in _batchers(loader):
            if isinstance(getattr(sampler, "batch_size", None), int):
                sampler.batch_size = size
        if loader.batch_size is not None:
            object.__setattr__(loader, "batch_size", size)

    def _sizes(self, loader):
        """(rows of a batch, what they are to be)."""
        sampler = getattr(loader, "batch_sampler", None)
        if sampler is None:
            raise Refusal("a dataset gives whole batches itself (batch_size=None)")
        was = getattr(sampler, "batch_size", None)
        if not isinstance(was, int) or isinstance(was, bool):
            raise Refusal(f"{type(sampler).__name__} has no batch_size that can be set")
        try:
            rows = len(loader.dataset)
        except TypeError:  # an iterable's
            rows = None
        return was, self._size(was, rows)
