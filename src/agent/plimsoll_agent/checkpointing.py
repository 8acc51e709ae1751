"""Gradient checkpointing: is it on, and was anything recomputed?

Counted where torch.utils.checkpoint passes on its way and no code of the program runs, so that no
frame of ours is on a stack: a helper that each call of checkpoint() asks for autocast's state, and
what begins a recomputation, of either kind.
"""

import functools
import sys

from plimsoll_agent.importing import when_imported

TECHNIQUE, NAME = "technique", "gradient checkpointing"
MODULE = "torch.utils.checkpoint"
_not_blocks = {"calls": 0, "recomputed": 0}
_FLAGS = ("gradient_checkpointing", "grad_checkpointing")  # transformers and diffusers; timm


def not_a_block(what):
    """One of "calls" or "recomputed" is a switch's way back to a forward pass, not a block."""
    _not_blocks[what] += 1


class Checkpointing:
    """Counts calls and recomputations."""

    def __init__(self, journal):
        self._journal = journal
        self._calls = 0
        self._recomputations = 0

    @property
    def calls(self):
        return self._calls - _not_blocks["calls"]

    @property
    def recomputed(self):
        return self._recomputations - _not_blocks["recomputed"]

    def watch(self):
        if MODULE in sys.modules:
            self._watch(sys.modules[MODULE])
        else:
            when_imported(MODULE, lambda module, seconds: self._watch(module))

    def _watch(self, module):
        attempt = self._journal.attempt
        attempt("count checkpoints", _count, module, "_get_autocast_kwargs", self._called)
        attempt("count recomputations", _count, module, "detach_variable", self._recomputed)
        hook = getattr(module, "_recomputation_hook", None)
        if hook is not None:
            attempt("count recomputations", _count, hook, "__init__", self._recomputed)

    def _called(self):
        self._calls += 1

    def _recomputed(self):
        self._recomputations += 1

    def note(self, facts, inventory, moment):
        flagged = [module for module in inventory.modules
                   if any(module.__dict__.get(flag) is True for flag in _FLAGS)]
        if not flagged and self.calls == 0:
            return
        facts.add(TECHNIQUE, NAME, *self._judge(flagged, moment))

    def _judge(self, flagged, moment):
        """(value, effect, evidence)."""
        passes = moment.backwards
        if self.recomputed > 0:
            blocks = self.recomputed / passes if passes else self.recomputed
            value = f"{blocks:.0f} blocks" if blocks == int(blocks) else f"{self.recomputed} blocks"
            return value, "yes", (
                f"checkpoint() was called {_times(self.calls)}, and {self.recomputed} blocks were "
                f"recomputed in {passes or 'the first'} backward pass{'es' if passes > 1 else ''}.")
        value = f"{len(flagged) or self.calls} {'modules' if flagged else 'calls'}"
        if moment.compiled:
            return value, "unknown", "Compiled graphs recompute by themselves; that is not counted."
        if passes == 0 and not moment.is_end:
            return value, "unknown", "No backward pass has ended."
        nothing = "It is on and saved nothing: no block was recomputed."
        return value, "no", f"{nothing} {self._reason(flagged, passes)}"

    def _reason(self, flagged, passes):
        if passes == 0:
            return "No backward pass ran."
        if self.calls > 0:
            return (f"checkpoint() was called {_times(self.calls)}, but its inputs and parameters "
                    "did not require gradients.")
        if not any(module.training for module in flagged):
            return "The models are in eval mode, which leaves it out."
        return "torch.utils.checkpoint was not called."


def _times(count):
    return "once" if count == 1 else f"{count} times"


def _count(owner, name, counted):
    """Puts a counting function in the place of one that runs no code of the program."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def function(*args, **kwargs):
        counted()
        return original(*args, **kwargs)

    setattr(owner, name, function)
