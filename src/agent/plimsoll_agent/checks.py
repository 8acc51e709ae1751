"""Checks of values that PyTorch makes itself, of what was not computed.

torch.distributions looks whether all parameters and samples are in range, and torch.normal whether
deviations are positive. In a rehearsal such an answer is zero, so every check would fail. Here it
succeeds, after it has taken the memory that it takes. A check that the program makes is its own.
"""

import functools

_OF_VALUES = ("to satisfy the constraint", "to be within the support")
_OF_DEVIATIONS = "normal expects all elements of std >= 0.0"


def install(torch):
    """Hooks into torch.distributions, once torch is there."""
    from torch.distributions import distribution, normal

    base = distribution.Distribution
    for name in ("__init__", "_validate_sample"):
        setattr(base, name, _forgiving(torch, getattr(base, name)))
    normal.Normal.sample = _make_sample(torch, normal.Normal.sample)


def _is_on_device(torch, things):
    """Whether there is a tensor of the device among them, or within a distribution."""
    for thing in things:
        if isinstance(thing, torch.distributions.Distribution):
            if _is_on_device(torch, thing.__dict__.values()):
                return True
        elif isinstance(thing, torch.Tensor) and thing.is_cuda:
            return True
    return False


def _forgiving(torch, original):
    @functools.wraps(original)
    def checked(self, *args, **kwargs):
        try:
            return original(self, *args, **kwargs)
        except ValueError as error:
            is_of_values = any(words in str(error) for words in _OF_VALUES)
            if not is_of_values or not _is_on_device(torch, (*args, self)):
                raise
            return None

    return checked


def _make_sample(torch, original):
    @functools.wraps(original)
    def sample(self, sample_shape=torch.Size()):
        try:
            return original(self, sample_shape)
        except RuntimeError as error:
            if not self.loc.is_cuda or _OF_DEVIATIONS not in str(error):
                raise
        with torch.no_grad():
            return torch.normal(self.loc.expand(self._extended_shape(sample_shape)), 1.0)

    return sample
