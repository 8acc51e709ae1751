"""loss=chunked[:N]: logits and their loss in pieces, each recomputed in the backward pass."""

import weakref

from plimsoll_agent.switches.blocks import Finder, unwrapped
from plimsoll_agent.switches.compiling import compiled_within, tracing_test
from plimsoll_agent.switches.functional import transforming_test
from plimsoll_agent.switches.lazy_logits import Source, make_class, pieces_for
from plimsoll_agent.switches.recomputing import within_backward, within_checkpoint
from plimsoll_agent.switches.sharding import SHARDED, module_of
from plimsoll_agent.switches.switch import CHANGED, Switch

WIDE = 8192  # classes of a head; or
RATIO = 4  # classes to the width of the hidden states


class Head:
    """Stands for a head's forward, on the instance: a copy of the module gets one of its own."""

    def __init__(self, module, loss):
        self._module = weakref.ref(module)
        self._loss = loss

    def __call__(self, hidden):
        module = self._module()
        lazily = self._loss.lazily(module, hidden)
        return type(module).forward(module, hidden) if lazily is None else lazily

    def __deepcopy__(self, memo):
        copy = memo.get(id(self._module()))
        return self if copy is None else Head(copy, self._loss)

    def __reduce__(self):
        return getattr, (self._module(), "forward")


class Loss(Switch):
    """A model's wide last layer gives logits that only a loss makes, in pieces."""

    name = "loss"

    def install(self):
        self._finder = Finder(self.torch)
        self._class = None
        self._is_transforming = transforming_test(self.torch)
        self._known = weakref.WeakSet()
        self._wanted = int(self.value.partition(":")[2] or 0)
        self._names = []
        self._largest = None
        self._losses = 0
        self._count = 0
        self._whole = {}
        self._compiled = None
        self._is_recomputed = False
        self._is_called = False
        self._reason = None
        self.program.around_forward(self._forward)
        self.entry.waits("no model was called in training with gradients")

    # ---- models --------------------------------------------------------------------------------

    def _forward(self, call, model, args, kwargs):
        if model not in self._known and self.torch.is_grad_enabled() and \
                not within_backward(self.torch):
            self._known.add(model)
            self.program.journal.attempt("find the head", self._prepare, model)
        return call(model, args, kwargs)

    def _prepare(self, model):
        if self._compiled is not None or self._reason is not None:
            return  # it was refused, and a model that comes later gets nothing either
        if module_of(model, SHARDED) is not None:
            self._reason = "FSDP looks after the weights of the head, and the history of the " \
                "logits, in each call"
            return
        parallel = module_of(model, ("DistributedDataParallel",))
        if getattr(parallel, "find_unused_parameters", False):
            self._reason = "DistributedDataParallel looks for unused parameters: it follows the " \
                "history of the logits as soon as the model returns them"
            return
        compiled = compiled_within(model)
        heads = self._heads(model)
        if heads and compiled is not None:
            self._compiled = type(unwrapped(compiled)).__name__
            return
        for name, head in heads:
            self._names.append(name)
            head.forward = Head(head, self)

    def _heads(self, model):
        linear = self.torch.nn.Linear
        blocks = {id(inner) for sequence in self._finder.sequences(model)
                  for block in sequence.blocks for inner in block.modules()}
        heads = []
        for name, module in model.named_modules():
            if type(module) is not linear or id(module) in blocks or "forward" in module.__dict__:
                continue
            classes, width = module.out_features, module.in_features
            self._largest = max(self._largest or (0, 0, ""), (classes, width, name))
            if classes >= WIDE or classes >= RATIO * width:
                heads.append((name, module))
        return heads[-1:]

    def lazily(self, head, hidden):
        """The logits; None: they are to be made now."""
        torch = self.torch
        self._is_called = True
        if not torch.is_grad_enabled() or hidden.dim() < 2 or type(hidden) is not torch.Tensor \
                or tracing_test(torch)() or self._is_transforming() \
                or not (hidden.requires_grad or head.weight.requires_grad):
            return None
        if within_checkpoint(torch):
            self._is_recomputed = True
            return None
        if self._class is None:
            self._class = make_class(torch)
        source = Source(torch, head, hidden, self)
        return self._class(source, hidden, [], source.product_dtype(hidden))

    # ---- seen by logits ------------------------------------------------------------------------

    def pieces(self, rows, width, classes):
        return self._wanted or pieces_for(rows, width, classes)

    def pieced(self, count):
        self._losses += 1
        self._count = max(self._count, count)
        place = self.program.place()
        if place is not None:
            self.entry.place("loss", *place)

    def made_whole(self, name, has_grad, is_late):
        if is_late:
            self.entry.relabel(CHANGED, "logits that the program reads after a step are of the "
                                        "head's weights after it")
        key = name, has_grad
        self._whole[key] = self._whole.get(key, 0) + 1

    # ---- evidence ------------------------------------------------------------------------------

    def settle(self):
        whole = ", ".join(f"{name} ({count})" for (name, _), count in sorted(self._whole.items()))
        if self._losses:
            self.entry.facts["chunks"] = self._count
            head = ", ".join(f"layer {name}" if name.isdigit() else name
                             for name in sorted(set(self._names)))
            losses = "1 loss" if self._losses == 1 else f"{self._losses} losses"
            count = "1 piece" if self._count == 1 else f"{self._count} pieces"
            text = f"the logits of {head} and {losses} were computed in {count}"
            self.entry.applied(text + (f"; other operations made logits whole: {whole}"
                                       if whole else ""))
        elif self._reason:
            self.entry.refuse(self._reason)
        elif whole:
            self.entry.no_effect(f"other operations than a cross-entropy took the output of "
                                 f"{self._names[-1]}: {whole}")
        elif self._is_recomputed:
            self.entry.no_effect("the program recomputes its logits itself")
        elif self._compiled:
            self.entry.refuse(f"torch.compile takes the loss and the logits of {self._compiled} "
                              "together")
        elif self._names and not self._is_called:
            self.entry.no_effect(f"{self._names[-1]} was not called: the program makes its logits "
                                 "and their loss in another way")
        elif self._names:
            self.entry.no_effect("no loss was computed from the logits")
        elif self._known:
            text = "no layer's output is wide enough to be logits over a vocabulary"
            if self._largest:
                text += f": the widest is {self._largest[2] or 'the model'}, " \
                        f"{self._largest[1]} to {self._largest[0]}"
            self.entry.refuse(text)
