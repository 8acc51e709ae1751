"""Autocast as a user's own `with torch.autocast(...)` around a forward pass and its loss would be.

    model(batch)          opens
    criterion(out, y)     inside
    loss.backward()       closed before
    optimizer.step()

The casts of weights are kept, and dropped, with the region. One that opened without gradients is
an evaluation's: it closes at the next forward pass too, since casts that were made there have no
history, and at the loader's next batch.
"""

import threading


class Region:
    """One, open on this thread.

    The program may leave a region of its own in between, which then restores what was before both.
    """

    def __init__(self, torch, device, dtype):
        self._torch = torch
        self.device = device
        self._dtype = dtype
        self.has_grad = torch.is_grad_enabled()
        self._mode = torch.autocast(device, dtype)
        self._mode.__enter__()

    def resume(self):
        """In a region of the program's that is disabled."""
        if not self._torch.is_autocast_enabled(self.device):
            self._torch.set_autocast_dtype(self.device, self._dtype)
            self._torch.set_autocast_enabled(self.device, True)

    def close(self):
        torch = self._torch
        if torch.is_autocast_enabled(self.device):
            self._mode.__exit__(None, None, None)
        elif torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()


class Regions:
    """Those of all threads.

    opened  how many there were
    """

    def __init__(self, torch, dtype):
        self._torch = torch
        self._dtype = dtype
        self._here = threading.local()
        self.opened = 0
        self.is_entering = False

    def open_here(self):
        """{device: Region} of this thread."""
        found = getattr(self._here, "regions", None)
        if found is None:
            found = self._here.regions = {}
        return found

    def open(self, device):
        """Before a forward pass."""
        here = self.open_here()
        region = here.get(device)
        if region is not None and region.has_grad and self._torch.is_grad_enabled():
            region.resume()  # several forward passes of one backward pass
            return
        if region is not None:
            self.close()
        self.is_entering = True
        try:
            here[device] = Region(self._torch, device, self._dtype)
        finally:
            self.is_entering = False
        self.opened += 1

    def close(self):
        """Before a backward pass, or an optimizer's step."""
        here = self.open_here()
        while here:
            here.popitem()[1].close()

    def close_evaluations(self):
        """Before the loader's next batch."""
        here = self.open_here()
        if here and not any(region.has_grad for region in here.values()):
            self.close()
