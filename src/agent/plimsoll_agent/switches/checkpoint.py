"""checkpoint[=every:K|fraction:F]: repeated blocks are recomputed in the backward pass."""

import functools
import math
import warnings
import weakref

from plimsoll_agent.switches.blocks import Finder
from plimsoll_agent.switches.compiling import breaks_at_checkpoints, changes_state, compiled_within
from plimsoll_agent.switches.recomputing import Recomputed, within_backward
from plimsoll_agent.switches.switch import CHANGED, Switch

# Of transformers since 5, transformers, diffusers and timm: (method, how it is called).
OWN_SWITCHES = (
    ("activation_checkpointing_enable",
     lambda enable, call: enable(activation_checkpointing_kwargs={"use_reentrant": False})),
    ("gradient_checkpointing_enable",
     lambda enable, call: enable(gradient_checkpointing_kwargs={"use_reentrant": False})),
    ("enable_gradient_checkpointing", lambda enable, call: enable(call)),
    ("set_grad_checkpointing", lambda enable, call: enable(True)),
)
FLAGS = ("gradient_checkpointing", "grad_checkpointing")


def is_chosen(value, index):
    """Of the blocks that stand beside each other, the one of an index."""
    kind, _, number = value.partition(":")
    if kind == "every":
        return index % int(number) == 0
    share = float(number) if kind == "fraction" else 1.0
    return math.ceil((index + 1) * share - 1e-9) > math.ceil(index * share - 1e-9)


def own_switches(model):
    """The outermost modules of a model that have a switch of their own: [(module, row)]."""
    found = []
    within = set()
    for module in model.modules():
        if id(module) in within:
            continue
        row = next((row for row in OWN_SWITCHES if hasattr(type(module), row[0])), None)
        if row is None or getattr(module, "supports_gradient_checkpointing", True) is False or \
                getattr(module, "_supports_gradient_checkpointing", True) is False:
            continue
        found.append((module, row))
        within.update(map(id, module.modules()))
    return found


def is_on(model):
    """By the flags of libraries."""
    return any(module.__dict__.get(flag) is True for module in model.modules() for flag in FLAGS)


class Checkpoint(Switch):
    """A model's own switch where it has one, else blocks that are found."""

    name = "checkpoint"
    uses_own = True

    def install(self):
        self._finder = Finder(self.torch)
        self._recomputed = Recomputed(self.torch)
        self._known = weakref.WeakSet()
        self._found = 0
        self._own = []
        self._was_on = False
        self._without = None
        self._stateful = None  # the name of a class that torch.compile could not recompute
        self._is_compiled = False
        self.program.around_forward(self._forward)
        self.entry.waits("no model was called in training with gradients")

    # ---- models --------------------------------------------------------------------------------

    def _forward(self, call, model, args, kwargs):
        if model not in self._known and model.training and self.torch.is_grad_enabled() and \
                not within_backward(self.torch):
            self._known.add(model)
            self.program.journal.attempt("find blocks", self._prepare, model)
        return call(model, args, kwargs)

    def _prepare(self, model):
        sequences = self._finder.sequences(model)
        if is_on(model) and not (sequences and self._takes_over(model)):
            self._was_on = True
            return
        chosen = [(block, is_chosen(self.value, index)) for sequence in sequences
                  for index, block in enumerate(sequence.blocks)]
        own = own_switches(model) if self.uses_own else []
        handled = self._switch_own_on(own, chosen) if own else set()
        rest = [(block, wanted) for block, wanted in chosen if id(block) not in handled]
        if rest and compiled_within(model) is not None:
            stateful = next(filter(None, (changes_state(block) for block, _ in rest)), None)
            if stateful is not None:
                self._stateful = stateful
                return
            self._is_compiled = True
        for block, wanted in rest:
            if wanted:
                self._recomputed.mark(block)
        self._found += len(rest)
        if not chosen and not own:
            self._without = type(model).__name__

    def _takes_over(self, model):
        """Whether the model's own switch, which is on, was switched off for this technique."""
        return False

    def _switch_own_on(self, own, chosen):
        """The ids of modules that are looked after by their model's own switch."""
        checkpoint = functools.partial(self.torch.utils.checkpoint.checkpoint, use_reentrant=False)
        handled = set()
        for module, (name, switch_on) in own:
            inner = set(map(id, module.modules()))
            blocks = [pair for pair in chosen if id(pair[0]) in inner]
            has_flags = blocks and all(hasattr(block, FLAGS[0]) for block, _ in blocks)
            if self.value and not has_flags:
                continue  # its switch is for all blocks
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                switch_on(getattr(module, name), checkpoint)
            handled |= inner
            if self.value:
                for block, wanted in blocks:
                    block.gradient_checkpointing = wanted
            known = blocks if has_flags else []  # else the library knows, and not the finder
            self._own.append((f"{type(module).__name__}.{name}()", len(known),
                              sum(wanted for _, wanted in known)))
        return handled

    # ---- evidence ------------------------------------------------------------------------------

    def settle(self):
        blocks = self._recomputed
        if self._own:
            self._settle_own()
        elif blocks.blocks:
            self._settle_blocks()
        elif blocks.theirs:
            self.entry.no_effect(f"the program recomputes these {blocks.theirs} blocks itself")
        elif self._was_on:
            self.entry.no_effect("the model's own gradient checkpointing is on already")
        elif self._stateful:
            self.entry.refuse(f"the program compiles its model, and calls of {self._stateful} may "
                              "change its state: torch.compile cannot recompute that")
        elif self._without is not None:
            self.entry.refuse(f"{self._without} has no repeated blocks")
        if blocks.unsafe:
            self.entry.relabel(CHANGED, "blocks change buffers in each call: "
                               + ", ".join(sorted(blocks.unsafe)))

    def _settle_own(self):
        name = ", ".join(sorted({name for name, _, _ in self._own}))
        count = sum(count for _, count, _ in self._own)
        chosen = sum(wanted for _, _, wanted in self._own)
        self.entry.facts.update({"way": self._own[0][0].split(".")[1][:-2], "blocks": count,
                                 "chosen": chosen})
        self.entry.applied(f"{name} was called: {chosen} of {count} blocks are recomputed"
                           if count else f"{name} was called")

    def _settle_blocks(self):
        blocks = self._recomputed
        self.entry.facts.update({"way": "blocks", "blocks": self._found, "chosen": blocks.blocks})
        text = f"{blocks.blocks} of {self._found} blocks are marked"
        if blocks.count:
            text = (f"{blocks.blocks} of {self._found} blocks are recomputed: {blocks.calls} calls, "
                    f"{blocks.count} recomputations")
        if blocks.theirs:
            text += f"; {blocks.theirs} are by the program itself"
        if blocks.within:
            text += f"; {blocks.within} calls were within transforms of torch.func and went " \
                "through plain"
        if blocks.cached:
            text += f"; {blocks.cached} calls had a cache of keys and values and went through plain"
        if self._is_compiled:
            self.entry.applied(f"{text}, within graphs of torch.compile")
            broken = breaks_at_checkpoints()
            if broken:
                self.entry.refuse(f"torch.compile broke its graphs {broken} times at them")
        elif blocks.within and not blocks.calls:
            self.entry.no_effect(text)
        elif blocks.calls and not blocks.count:
            self.entry.no_effect(f"{text}, and no block was recomputed: nothing was saved for a "
                                 "backward pass, or none ran")
        else:
            self.entry.applied(text)
