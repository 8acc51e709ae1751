"""States of PyTorch's random numbers and of autocast, for a forward that is run again."""

import contextlib


def states(torch):
    """Of the host, and of the current device if it has been used."""
    found = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found["cuda"] = torch.cuda.get_rng_state()
    return found


def restore(torch, found):
    torch.set_rng_state(found["cpu"])
    if "cuda" in found:
        torch.cuda.set_rng_state(found["cuda"])


def is_same(one, other):
    return one.keys() == other.keys() and all(one[key].equal(other[key]) for key in one)


def _types(torch):
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def casts(torch):
    """[(device type, enabled, type)] of autocast here."""
    return [(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind))
            for kind in _types(torch)]


@contextlib.contextmanager
def cast_as(torch, found):
    """Within it autocast is as it was found."""
    with contextlib.ExitStack() as stack:
        for kind, is_enabled, dtype in found:
            options = {"dtype": dtype} if is_enabled else {}
            stack.enter_context(torch.autocast(kind, enabled=is_enabled, **options))
        yield


def uncast(torch):
    """A context without autocast: in a program's loop the backward pass lies outside of it."""
    on = [(kind, False, None) for kind, is_enabled, _ in casts(torch) if is_enabled]
    return cast_as(torch, on)
