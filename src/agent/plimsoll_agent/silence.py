"""Takes a few of Python's warnings first, and keeps them from all other handlers.

PyTorch reports value reads by warnings. Those that we enabled must reach neither the screen
nor the program, whatever it does with warnings: filter them, turn them into errors, record them.
So a filter of ours stays first in warnings.filters, which becomes a list that keeps it there. A
filter's pattern is asked by its method match() whether it is about a message; ours takes the
chance to listen. An ignored warning leaves no trace, and the next one at the same line comes too.
"""

import warnings


class _Pattern:
    """In the place of a regular expression."""

    def __init__(self, begins, hear):
        self._begins = begins
        self._hear = hear

    def match(self, text):
        if not text.startswith(self._begins):
            return None
        return self if self._hear(text) else None


class _Filters(list):
    """A list whose first item stays where it is. Copies by slices are such lists too."""

    def __init__(self, first, others):
        super().__init__([first] + [item for item in others if item is not first])
        self._first = first

    def _mend(self):
        if not self or self[0] is not self._first:
            others = [item for item in self if item is not self._first]
            super().__setitem__(slice(None), [self._first] + others)

    def __getitem__(self, index):
        items = super().__getitem__(index)
        return _Filters(self._first, items) if isinstance(index, slice) else items

    def copy(self):
        return self[:]


def _mending(name):
    """A method of list's after which the first item is put back."""
    method = getattr(list, name)

    def mended(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        finally:
            self._mend()

    mended.__name__ = name
    return mended


for _name in ("insert", "remove", "pop", "clear", "sort", "reverse", "__setitem__", "__delitem__"):
    setattr(_Filters, _name, _mending(_name))


def listen(begins, hear, category=UserWarning):
    """From now on, calls hear(text) for each warning whose text begins so.

    begins  a text, or a tuple of them
    hear    returns whether to keep the warning from all others
    """
    ours = ("ignore", _Pattern(begins, hear), category, None, 0)
    warnings.filters = _Filters(ours, warnings.filters)
    shown = getattr(warnings, "_showwarnmsg", None)
    if shown is None:  # Python's own affair, and only a second net
        return

    def show(message):
        """For a program that has put a list of its own in the place of warnings.filters."""
        if not (issubclass(message.category, category) and str(message.message).startswith(begins)
                and hear(str(message.message))):
            shown(message)

    warnings._showwarnmsg = show
