"""Amounts as a person reads them."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(count):
    """ "1.50 GiB": three digits."""
    unit = 0
    while count >= 1000 and unit + 1 < len(_UNITS):
        count /= 1024
        unit += 1
    if unit == 0:
        return f"{count} B"
    digits = 2 if count < 9.995 else 1 if count < 99.95 else 0
    return f"{count:.{digits}f} {_UNITS[unit]}"


def share_text(part, whole):
    """ "12%"; "0.3%" of small ones."""
    percent = 100 * part / whole if whole else 0
    return f"{percent:.0f}%" if percent >= 1 or percent == 0 else f"{percent:.2g}%"
