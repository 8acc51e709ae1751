"""Autocast: was it entered, with which type, and could it change anything?"""

import functools

NAME = "autocast"


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
        self.entered = {}  # {type: regions}, of those for CUDA that were enabled

    def watch(self):
        """Stands before autocast.__enter__, which is over before the region begins."""
        mode = self._torch.amp.autocast_mode.autocast
        mode.__enter__ = _noted(self._torch, mode.__enter__, self._note)

    def _note(self, torch, mode):
        if getattr(mode, "device", None) == "cuda" and getattr(mode, "_enabled", False):
            dtype = name_of(mode.fast_dtype)
            self.entered[dtype] = self.entered.get(dtype, 0) + 1

    def note(self, facts, inventory):
        if not self.entered:
            return
        dtype = max(self.entered, key=self.entered.get)
        regions = sum(self.entered.values())
        text = f"{regions} region{'s' if regions > 1 else ''} of autocast to {dtype}"
        sums = inventory.bytes_by(lambda parameter: name_of(parameter.dtype))
        if sums and sums.get(dtype, 0) == sum(sums.values()):
            facts.add("technique", NAME, dtype, "no",
                      f"All parameters are {dtype} already: autocast had nothing to cast.")
        elif sums.get("float32", 0) > 0:
            facts.add("technique", NAME, dtype, "yes",
                      f"The program entered {text}, and parameters are float32.")
        else:
            facts.add("technique", NAME, dtype, "unknown", f"The program entered {text}.")
