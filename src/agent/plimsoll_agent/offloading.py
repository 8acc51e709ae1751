"""Activation offloading: hooks that send saved tensors to the host, and the bytes that went."""

import functools

from plimsoll_agent.amounts import size_text
from plimsoll_agent import tally

TECHNIQUE, NAME = "technique", "activation offloading"
LEAST_BYTES = 1 << 16  # less than any activation that is worth it


def _offloads(hooks):
    """Whether an object of saved_tensors_hooks is one that offloads, by its names."""
    names = [type(hooks).__name__]
    pack = getattr(hooks, "pack_hook", None)
    names += [getattr(pack, "__qualname__", ""), getattr(pack, "__module__", "") or ""]
    return any("offload" in name.lower() or "save_on_cpu" in name for name in names)


class Offloading:
    """Counts regions."""

    def __init__(self, torch, journal):
        self._torch = torch
        self._journal = journal
        self.regions = 0
        self._bytes_before = 0

    def watch(self):
        """Stands before saved_tensors_hooks.__enter__, which is over before the region begins."""
        hooks = self._torch.autograd.graph.saved_tensors_hooks
        enter = hooks.__enter__
        entered = self._journal.guard("note offloading")(self._entered)

        @functools.wraps(enter)
        def __enter__(self):
            entered(self)
            return enter(self)

        hooks.__enter__ = __enter__

    def _entered(self, hooks):
        if _offloads(hooks):
            if self.regions == 0:
                self._bytes_before = _to_host(tally.read())
            self.regions += 1

    def note(self, facts, counts, moment):
        if self.regions == 0:
            return
        moved = _to_host(counts) - self._bytes_before
        value = f"{self.regions} region{'s' if self.regions > 1 else ''}"
        if moved >= LEAST_BYTES:
            facts.add(TECHNIQUE, NAME, value, "yes",
                      f"{size_text(moved)} were copied to the host since it began.")
        elif moment.is_end or moment.backwards > 0:
            facts.add(TECHNIQUE, NAME, value, "no",
                      "It is on and moved nothing: no saved tensor was copied to the host.")
        else:
            facts.add(TECHNIQUE, NAME, value, "unknown", "No backward pass has ended.")


def _to_host(counts):
    return counts.get("bytes to host", 0)
