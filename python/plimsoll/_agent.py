"""Finds Plimsoll's agent, the package that records and searches: beside this one, or installed."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_BESIDE = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "agent")


def load() -> None:
    """Imports `plimsoll_agent`, after which its modules are found through it.

    errors  ImportError: it is not there
    """
    if "plimsoll_agent" in sys.modules:
        return
    sys.path.insert(0, _BESIDE)  # for this one import
    try:
        import plimsoll_agent  # noqa: F401
    except ImportError:
        raise ImportError(f"Plimsoll's agent is not in {_BESIDE}: install Plimsoll again") from None
    finally:
        if _BESIDE in sys.path:
            sys.path.remove(_BESIDE)
