"""Imports Plimsoll's agent, the package that records and searches."""

import os
import sys

from plimsoll import _home


def load() -> None:
    """Imports `plimsoll_agent`, after which its modules are found through it.

    errors  ImportError: it is not there
    """
    if "plimsoll_agent" in sys.modules:
        return
    folder = os.path.join(_home.rehearse() or "", "agent")
    sys.path.insert(0, folder)  # for this one import
    try:
        import plimsoll_agent  # noqa: F401
    except ImportError:
        raise ImportError("Plimsoll's agent is missing: install Plimsoll again") from None
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
