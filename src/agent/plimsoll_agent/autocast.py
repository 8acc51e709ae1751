"""Autocast: was it entered, with which type, and could it change anything?"""

import functools

NAME = "autocast"
PRODUCT = "product "  # in the tally


def name_of(dtype):
    """ "bfloat16"."""
    return str(dtype).replace("torch.", "")


def _noted(torch, enter, note):
    """The function, with a note first.

    TorchScript reads the source of the original and looks its names up in what stands in its
    place: the one that it uses, torch, must be there.
    """

    @functools.wraps(enter)
    def __enter__(self):
        note(torch, self)
        return enter(self)

    return __enter__


class Autocasts:
    """Counts the regions that the program entered."""

    def __init__(self, torch):
        self._torch = torch
        self._parameters = {}  # {type: bytes}, of the last look that found some
        self.entered = {}  # {type: regions}, of those for CUDA that were enabled

    def watch(self):
        """Stands before autocast.__enter__, which is over before the region begins."""
        mode = self._torch.amp.autocast_mode.autocast
        mode.__enter__ = _noted(self._torch, mode.__enter__, self._note)

    def _note(self, torch, mode):
        if getattr(mode, "device", None) == "cuda" and getattr(mode, "_enabled", False):
            dtype = name_of(mode.fast_dtype)
            self.entered[dtype] = self.entered.get(dtype, 0) + 1

    def note(self, facts, counts, inventory):
        """By the products that ran, in which type; where none ran, by the parameters."""
        if not self.entered:
            return
        dtype = max(self.entered, key=self.entered.get)
        regions = sum(self.entered.values())
        entered = f"{regions} region{'s' if regions > 1 else ''}"
        products = {name[len(PRODUCT):]: count for name, count in counts.items()
                    if name.startswith(PRODUCT)}
        sums = inventory.bytes_by(lambda parameter: name_of(parameter.dtype)) or self._parameters
        self._parameters = sums
        shown = ", ".join(f"{name} × {count}" for name, count in products.items())
        if sums and sums.get(dtype, 0) == sum(sums.values()):
            effect = "no"
            evidence = f"All parameters are {dtype} already: autocast had nothing to cast."
        elif products and dtype not in products:
            effect = "no"
            evidence = f"{entered} were entered, but no product ran in {dtype}: {shown}."
        elif products:
            effect = "yes"
            evidence = f"{entered} entered; matrix products ran in {shown}."
        else:
            effect = "unknown"
            evidence = f"{entered} entered; no matrix product ran."
        facts.add("technique", NAME, dtype, effect, evidence)
